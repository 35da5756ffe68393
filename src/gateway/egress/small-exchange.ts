import type { IncomingHttpHeaders } from 'node:http'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import type { EgressCall, EgressOrigin, SmallRequest, SmallResponse } from './egress.ts'
import { duration } from './failures.ts'

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
          resolve(answer(status, rawHeaders, body.join()))
        },
        onError: fail,
      },
    )
  })
}

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
