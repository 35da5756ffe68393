import type { EgressCall, EgressOrigin, EgressRequest } from '../../src/gateway/egress/egress.ts'

/** All calls to a handler in one exchange. */
export interface Answer {
  readonly status: number
  readonly statusMessage: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly trailers: readonly string[]
  readonly information: readonly { readonly status: number; readonly rawHeaders: readonly string[] }[]
  readonly error: Error | null
  /** Milliseconds from the start to the end or error. */
  readonly ms: number
}

export interface Sent {
  readonly call: EgressCall
  /** Settles at the end or error; never rejects. */
  readonly done: Promise<Answer>
  /** Settles at the response headers. */
  readonly headers: Promise<number>
  /** How often the handler was called, by method. */
  readonly calls: readonly string[]
}

export const longTimeouts = { firstByteMs: 20_000, idleMs: 20_000 }

/** Sends a request (by default a GET without a body) and collects the answer. */
export function sendTo(
  origin: EgressOrigin,
  request: Partial<EgressRequest> = {},
  onData?: (chunk: Buffer, call: EgressCall) => void,
): Sent {
  const done = Promise.withResolvers<Answer>()
  const headers = Promise.withResolvers<number>()
  const chunks: Buffer[] = []
  const calls: string[] = []
  const information: { status: number; rawHeaders: readonly string[] }[] = []
  const head = { status: 0, statusMessage: '', rawHeaders: [] as readonly string[] }
  const startedAt = performance.now()
  const finish = (trailers: readonly string[], error: Error | null) =>
    done.resolve({ ...head, body: Buffer.concat(chunks), trailers, information, error, ms: performance.now() - startedAt })
  const call: EgressCall = origin.send(
    { method: 'GET', path: '/', headers: [], body: null, timeouts: longTimeouts, ...request },
    {
      onInformation(status, rawHeaders) {
        calls.push('information')
        information.push({ status, rawHeaders })
      },
      onHeaders(status, rawHeaders, statusMessage) {
        calls.push('headers')
        Object.assign(head, { status, rawHeaders, statusMessage })
        headers.resolve(status)
      },
      onData(chunk) {
        calls.push('data')
        if (onData === undefined) chunks.push(Buffer.from(chunk))
        else onData(chunk, call)
      },
      onEnd(trailers) {
        calls.push('end')
        finish(trailers, null)
      },
      onError(error) {
        calls.push('error')
        finish([], error)
      },
    },
  )
  return { call, done: done.promise, headers: headers.promise, calls }
}
