import { once } from 'node:events'
import { WebSocket } from 'ws'

export type SocketEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** A client of the wire alone, whose messages are JSON. */
export interface SocketClient {
  readonly socket: WebSocket
  /** The events that came and were not taken by `next`. */
  readonly events: readonly SocketEvent[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  send(event: object): void
  /** Takes events, each once, up to the first that meets the condition. Rejects when the connection ends without one. */
  next(until: (event: SocketEvent) => boolean): Promise<SocketEvent>
}

export type Headers = Readonly<Record<string, string>>

/** Opens a connection. `origin`: `http://…`. */
export async function openClient(origin: string, path: string, headers: Headers, protocols: readonly string[] = []): Promise<SocketClient> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, [...protocols], { headers })
  const events: SocketEvent[] = []
  let wake = Promise.withResolvers<void>()
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() })
      wake.resolve()
    }),
  )
  socket.on('message', (data: Buffer) => {
    events.push(JSON.parse(data.toString()) as SocketEvent)
    wake.resolve()
    wake = Promise.withResolvers()
  })
  await once(socket, 'open')
  return {
    socket,
    events,
    closed,
    send: (event) => socket.send(JSON.stringify(event)),
    async next(until) {
      for (;;) {
        for (let event = events.shift(); event !== undefined; event = events.shift()) if (until(event)) return event
        if (socket.readyState === WebSocket.CLOSED)
          throw new Error(`the connection ended before the event: ${JSON.stringify(await closed)}`)
        await wake.promise
      }
    },
  }
}

/** Asks for a connection that is refused, and returns the answer over HTTP. */
export function refused(
  origin: string,
  path: string,
  headers: Headers,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { headers })
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate()
      reject(new Error('it was accepted'))
    })
    socket.once('error', reject)
    socket.once('unexpected-response', (_req, res) => {
      const parts: Buffer[] = []
      res.on('data', (part: Buffer) => parts.push(part))
      res.on('end', () => {
        const text = Buffer.concat(parts).toString()
        resolve({ status: res.statusCode ?? 0, headers: res.headers as Headers, body: text === '' ? null : JSON.parse(text) })
      })
    })
  })
}
