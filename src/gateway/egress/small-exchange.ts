import type { IncomingHttpHeaders } from 'node:http'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { type Hide, hidingSecrets } from '../../lib/text/known-secrets.ts'
import type { EgressCall, EgressOrigin, SmallRequest, SmallResponse } from './egress.ts'
import { duration } from './failures.ts'
import { sentSecrets } from './sent-secrets.ts'

/** Most bytes of a small answer. */
export const maxSmallResponseBytes = 256 * 1024

/** Sends a small request and collects its answer; the time limit covers the whole exchange. */
export function sendSmall(origin: EgressOrigin, path: string, request: SmallRequest): Promise<SmallResponse> {
  return new Promise((resolve, reject) => {
    const { maxBytes = maxSmallResponseBytes } = request
    const body = new ByteList()
    let status = 0
    let rawHeaders: readonly string[] = []
    const fail = (error: Error) => {
      clearTimeout(timer)
      call.abort()
      reject(error)
    }
    const timer = setTimeout(() => {
      fail(new ApiError('upstream_timeout', `The host did not answer completely within ${duration(request.timeoutMs)}.`))
    }, request.timeoutMs)
    // The exchange's own timers stay behind this one.
    const timeouts = { firstByteMs: request.timeoutMs * 2, idleMs: request.timeoutMs * 2 }
    const sent = request.body === undefined ? (request.bytes ?? null) : Buffer.from(request.body)
    const call: EgressCall = origin.send(
      { method: request.method, path, headers: Object.entries(request.headers).flat(), body: sent, timeouts },
      {
        onHeaders(code, headers) {
          status = code
          rawHeaders = headers
        },
        onData(chunk) {
          body.push(chunk)
          if (body.size > maxBytes) fail(new ApiError('upstream_bad_response', `The host sent more than ${maxBytes / 1024} KB.`))
        },
        onEnd() {
          clearTimeout(timer)
          resolve(shown({ request, path, status, rawHeaders, bytes: body.join() }))
        },
        onError: fail,
      },
    )
  })
}

interface SmallExchange {
  readonly request: SmallRequest
  readonly path: string
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly bytes: Buffer
}

/** Most bytes of a failure that are kept: messages are made of them. */
const mostOfFailure = 64 * 1024
/** A secret that begins before the cut is found as a whole. */
const beyond = 8 * 1024

/** Returns the answer without the secrets that it may not repeat. */
function shown({ request, path, status, rawHeaders, bytes }: SmallExchange): SmallResponse {
  const { secrets = [], hides } = request
  const failed = status < 200 || status > 299
  if (!failed && hides === undefined) return answer(status, rawHeaders, bytes)
  const hide = hidingSecrets([...sentSecrets(request, path), ...secrets, ...(hides ?? [])])
  return failed
    ? answer(status, rawHeaders.map(hide), failure(bytes, hide))
    : answer(status, rawHeaders, Buffer.from(hide(bytes.toString('utf8'))))
}

const failure = (bytes: Buffer, hide: Hide): Buffer =>
  Buffer.from(hide(bytes.subarray(0, mostOfFailure + beyond).toString('utf8'))).subarray(0, mostOfFailure)

/** Not every caller wants text. */
const answer = (status: number, rawHeaders: readonly string[], bytes: Buffer): SmallResponse => ({
  status,
  headers: foldHeaders(rawHeaders),
  bytes,
  get text() {
    return bytes.toString('utf8')
  },
})

/** Flat header fields as node:http has them: lower-case names, repeated fields joined, `set-cookie` as a list. */
function foldHeaders(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string> = Object.create(null)
  const cookies: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (name === 'set-cookie') cookies.push(value)
    else headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  return cookies.length === 0 ? headers : { ...headers, 'set-cookie': cookies }
}
