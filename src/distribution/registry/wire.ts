import { Readable } from 'node:stream'
import type { Chunks } from '../bytes.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { ApiError } from '../../lib/errors.ts'
import { DistributionFault } from '../fault.ts'

/** One request to a registry, or to the service that gives its tokens. */
export interface WireRequest {
  readonly method: 'GET' | 'HEAD' | 'PATCH' | 'POST' | 'PUT'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly chunks: () => Chunks; readonly size: number }
}

export interface WireAnswer {
  readonly status: number
  /** The headers by lower-case name; the last one counts. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

const largestAnswer = 4 * 1024 * 1024
const idleMs = 60_000
/** Slower than this, an upload counts as stuck. */
const leastBytesPerMs = 50

/** Sends a request through the egress and collects its answer. Throws DistributionFault `registry_unreachable`. */
export async function sendOver(egress: Egress, { method, url, headers = {}, body }: WireRequest): Promise<WireAnswer> {
  const { pathname, search } = new URL(url)
  try {
    const origin = await egress.origin(new URL(url).origin, 'the registry')
    const sizes = body === undefined ? {} : { 'content-length': String(body.size) }
    return await new Promise<WireAnswer>((resolve, reject) => {
      const pieces: Buffer[] = []
      let [status, size, fields]: [number, number, WireAnswer['headers']] = [0, 0, {}]
      const call = origin.send(
        {
          method,
          path: pathname + search,
          headers: Object.entries({ ...headers, ...sizes }).flat(),
          body: body === undefined ? null : Readable.from(body.chunks(), { objectMode: false }),
          timeouts: { firstByteMs: idleMs + (body?.size ?? 0) / leastBytesPerMs, idleMs },
        },
        {
          onHeaders(code, raw) {
            status = code
            fields = Object.fromEntries(pairs(raw))
          },
          onData(chunk) {
            size += chunk.length
            pieces.push(chunk)
            if (size <= largestAnswer) return
            call.abort()
            reject(new ApiError('upstream_bad_response', `The provider sent more than ${largestAnswer} bytes.`))
          },
          onEnd: () => resolve({ status, headers: fields, text: Buffer.concat(pieces).toString('utf8') }),
          onError: reject,
        },
      )
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = error.message.replaceAll('provider', 'registry')
    throw new DistributionFault('registry_unreachable', `${new URL(url).host}: ${message}`, { cause: error })
  }
}

function* pairs(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at < raw.length; at += 2) yield [raw[at]?.toLowerCase() ?? '', raw[at + 1] ?? '']
}
