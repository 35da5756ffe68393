import { request, type Agent, type IncomingHttpHeaders } from 'node:http'
import { request as requestByTls } from 'node:https'

export interface RawAnswer {
  readonly status: number
  readonly statusMessage: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly text: string
  readonly trailers: NodeJS.Dict<string>
  readonly informational: readonly number[]
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  /** The trusted authority for `https`, PEM. */
  readonly ca?: string
  /** The agent for `http` whose connections it may use, for many requests whose connections do not matter. */
  readonly agent?: Agent
}

/** One request on a connection of its own, unless it has an agent, answered as the bytes were on the wire: without decoding or redirects. */
export function send(url: string, { method = 'GET', headers = {}, body, ca, agent }: RawRequest = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const informational: number[] = []
    const framed =
      body === undefined || 'transfer-encoding' in headers || 'content-length' in headers
        ? {}
        : { 'content-length': String(Buffer.byteLength(body)) }
    const open = url.startsWith('https:') ? requestByTls : request
    const sent = open(
      {
        ...address(url),
        ...(ca !== undefined && { ca }),
        method,
        headers: { ...(headers as Record<string, string | string[]>), ...framed },
        agent: agent ?? false,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({
            status: response.statusCode ?? 0,
            statusMessage: response.statusMessage ?? '',
            headers: response.headers,
            rawHeaders: response.rawHeaders,
            body: bytes,
            text: bytes.toString(),
            trailers: response.trailers,
            informational,
          })
        })
      },
    )
    sent.on('information', (info) => informational.push(info.statusCode))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Host, port and the path as it stands: a URL object would fold dot segments away. */
function address(url: string): { readonly host: string; readonly port: string; readonly path: string } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port, path: url.slice(url.indexOf('/', url.indexOf('//') + 2)) }
}

/** A JSON request. */
export const sendJson = (url: string, headers: Readonly<Record<string, string>>, body: unknown, agent?: Agent): Promise<RawAnswer> =>
  send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(agent !== undefined && { agent }),
  })
