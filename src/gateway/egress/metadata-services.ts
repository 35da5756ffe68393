import { request as sendRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'

/** The service of a platform that gives a workload its identity, at an address that only the settings of the operator can move. */
export interface MetadataService {
  ask(question: MetadataQuestion): Promise<MetadataAnswer>
}

export interface MetadataQuestion {
  /** An origin of the settings: `http://169.254.169.254`. */
  readonly origin: string
  readonly method: 'GET' | 'PUT'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface MetadataAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Such a service is on the machine itself: where there is none, no answer comes. */
const timeoutMs = 2000
const maxBytes = 64 * 1024

/**
 * The one way to a metadata service. The guard lets no other request to these addresses, and this code takes no address from data: its
 * callers name an origin of `Workload`, which comes from the settings. No redirects, no keep-alive, no names to resolve.
 */
export const metadataService: MetadataService = {
  ask: ({ origin, method, path, headers }) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(origin)
      const request = sendRequest({
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? 80 : Number(port),
        method,
        path,
        headers,
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      })
      request.on('error', reject)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxBytes) request.destroy(new Error('the metadata service sent too much'))
          else chunks.push(chunk)
        })
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }),
        )
      })
      request.end()
    }),
}
