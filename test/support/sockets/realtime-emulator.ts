import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export type RealtimeEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** A scripted provider of OpenAI's realtime sessions, written from the types of `openai` 7.55. */
export interface RealtimeEmulator {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string
  /** The handshakes, oldest first. */
  readonly handshakes: readonly IncomingMessage[]
  /** Every event of clients, oldest first. */
  readonly heard: RealtimeEvent[]
  /** The sessions that are open. */
  readonly open: ReadonlySet<WebSocket>
  /** The codes with which clients closed. */
  readonly closes: readonly number[]
  /** The usage of the next responses. */
  usage: object
  /** Answers handshakes with this status, in place of accepting them; 0: it accepts. */
  refusal: number
  /** Runs a response on a session, as it does when it hears speech. */
  respond(socket: WebSocket, text?: string): void
  stop(): Promise<void>
}

export const textUsage = {
  total_tokens: 150,
  input_tokens: 120,
  output_tokens: 30,
  input_token_details: {
    text_tokens: 120,
    audio_tokens: 0,
    image_tokens: 0,
    cached_tokens: 20,
    cached_tokens_details: { text_tokens: 20, audio_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 0 },
}

export async function startRealtime(): Promise<RealtimeEmulator> {
  const server = createServer()
  const wss = new WebSocketServer({ noServer: true })
  const handshakes: IncomingMessage[] = []
  const heard: RealtimeEvent[] = []
  const open = new Set<WebSocket>()
  const closes: number[] = []
  let count = 0
  const state = { usage: textUsage as object, refusal: 0 }

  const send = (socket: WebSocket, type: string, more: object = {}) =>
    socket.send(JSON.stringify({ type, event_id: `event_${(count += 1)}`, ...more }))

  function respond(socket: WebSocket, text = 'Hello there.'): void {
    const id = `resp_${(count += 1)}`
    const response = { id, object: 'realtime.response', status: 'in_progress', output: [], usage: null }
    send(socket, 'response.created', { response })
    for (const delta of text.split(/(?<= )/)) send(socket, 'response.output_text.delta', { response_id: id, item_id: 'item', delta })
    send(socket, 'rate_limits.updated', { rate_limits: [] })
    send(socket, 'response.output_text.done', { response_id: id, item_id: 'item', text })
    send(socket, 'response.done', { response: { ...response, status: 'completed', usage: state.usage } })
  }

  /** A voice is a text. */
  function update(socket: WebSocket, session: unknown): void {
    const isBad = JSON.stringify(session).includes('"voice":5')
    if (isBad) send(socket, 'error', { error: { type: 'invalid_request_error', code: 'bad_voice', message: 'Bad voice.' } })
    else send(socket, 'session.updated', { session })
  }

  function serve(socket: WebSocket, req: IncomingMessage): void {
    open.add(socket)
    const model = new URL(req.url ?? '/', 'http://h').searchParams.get('model')
    send(socket, 'session.created', { session: { type: 'realtime', model, instructions: 'Be kind.' } })
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as RealtimeEvent
      heard.push(event)
      if (event.type === 'session.update') update(socket, event['session'])
      if (event.type === 'conversation.item.create') send(socket, 'conversation.item.added', { item: event['item'] })
      // A response without settings is one that never begins.
      if (event.type === 'response.create' && JSON.stringify(event['response']) !== '{}') respond(socket)
      if (event.type === 'test.error')
        send(socket, 'error', { error: { type: 'invalid_request_error', code: 'bad', message: 'Bad.', param: null } })
    })
    socket.on('close', (code) => {
      open.delete(socket)
      closes.push(code)
    })
  }

  server.on('upgrade', (req, socket, head) => {
    handshakes.push(req)
    if (state.refusal === 0) return wss.handleUpgrade(req, socket, head, (ws) => serve(ws, req))
    const body = JSON.stringify({
      error: { type: 'invalid_request_error', code: 'model_not_found', message: 'No such model.', param: 'model' },
    })
    socket.end(`HTTP/1.1 ${state.refusal} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    handshakes,
    heard,
    open,
    closes,
    respond,
    async stop() {
      for (const socket of open) socket.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
