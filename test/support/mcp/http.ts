import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

/** A server on a free port. */
export interface Listening {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  stop(): Promise<void>
}

export async function listen(handler: (req: IncomingMessage, res: ServerResponse) => unknown): Promise<Listening> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const chunk of req) parts.push(chunk as Buffer)
  return Buffer.concat(parts).toString()
}

/** Serves a handler of web requests. */
export async function serveWeb(
  req: IncomingMessage,
  res: ServerResponse,
  fetchFace: (request: Request) => Promise<Response>,
): Promise<void> {
  const leaving = new AbortController()
  res.once('close', () => leaving.abort())
  const headers = new Headers()
  for (let at = 0; at < req.rawHeaders.length; at += 2) headers.append(req.rawHeaders[at] ?? '', req.rawHeaders[at + 1] ?? '')
  const body = req.method === 'POST' ? await bodyOf(req) : null
  const request = new Request(`http://${req.headers.host}${req.url}`, {
    method: req.method ?? 'GET',
    headers,
    body,
    signal: leaving.signal,
  })
  const response = await fetchFace(request)
  res.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) res.end()
  else {
    res.flushHeaders()
    Readable.fromWeb(response.body)
      .on('error', () => res.destroy())
      .pipe(res)
  }
}
