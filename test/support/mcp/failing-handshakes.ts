import type { ServerResponse } from 'node:http'
import { bodyOf, type Listening, listen } from './http.ts'

/** A server of the transport of 2024-11-05 whose handshakes fail, and that never ends a stream of events. */
export interface FailingHandshakes extends Listening {
  /** The streams of events that are open. */
  open(): number
  /** The streams of events that were opened. */
  opened(): number
}

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`

/** The answer to `initialize` on the stream of events, and the status of the request that carries the call, by the last segment of the path. */
const failures: Readonly<
  Record<string, { readonly endpoint: string | null; readonly status?: number; readonly answer?: object | string }>
> = {
  'no-endpoint': { endpoint: null },
  'other-host': { endpoint: 'http://192.0.2.1/messages' },
  refusing: { endpoint: '/messages', status: 500 },
  mute: { endpoint: '/messages' },
  'error-answer': { endpoint: '/messages', answer: { jsonrpc: '2.0', id: 0, error: { code: -32600, message: 'no' } } },
  'no-rpc': { endpoint: '/messages', answer: { hello: 'world' } },
  'no-json': { endpoint: '/messages', answer: '{"jsonrpc"' },
}

export const handshakeFailures = Object.keys(failures)

export async function startFailingHandshakes(): Promise<FailingHandshakes> {
  const streams = new Map<string, ServerResponse>()
  let opened = 0
  const listening = await listen(async (req, res) => {
    const url = new URL(req.url ?? '/', 'http://own')
    const kind = url.searchParams.get('kind') ?? url.pathname.split('/').at(-1) ?? ''
    const failure = failures[kind]
    if (failure === undefined) {
      res.writeHead(404).end()
      return
    }
    if (req.method === 'GET') {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.flushHeaders()
      opened += 1
      streams.set(kind, res)
      res.once('close', () => streams.delete(kind))
      if (failure.endpoint !== null) res.write(event('endpoint', `${failure.endpoint}?kind=${kind}`))
      return
    }
    await bodyOf(req)
    res.writeHead(failure.status ?? 202).end()
    const { answer } = failure
    if (answer !== undefined) streams.get(kind)?.write(event('message', typeof answer === 'string' ? answer : JSON.stringify(answer)))
  })
  return { ...listening, open: () => streams.size, opened: () => opened }
}
