import { type ApiError, retryHeaders, toApiError } from '../../../lib/errors.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { invokeScope } from '../registry.ts'
import { McpFault, toFault } from '../protocol/faults.ts'
import { answerText, type RpcId } from '../protocol/messages.ts'
import { type McpPath, basePathOf } from './paths.ts'
import { Reply } from './reply.ts'

/** Returns the headers by which clients decide when to try again, flat. */
export const retryHeadersOf = (error: ApiError): readonly string[] => [...Object.entries(retryHeaders(error)).flat(), ...error.headers]

/** A request that is refused before it is a call. */
export interface RefusedRequest {
  readonly exchange: Exchange
  readonly path: McpPath
  readonly publicUrl: string | null
  readonly id: RpcId | null
}

/** Answers a request that is refused before it is a call. */
export function refuseRequest({ exchange, path, publicUrl, id }: RefusedRequest, thrown: unknown): void {
  if (exchange.closed || exchange.status !== 0) {
    exchange.destroy()
    return
  }
  const fault = toFault(thrown)
  const error = thrown instanceof McpFault ? null : toApiError(thrown)
  const more = error === null ? [] : [...retryHeadersOf(error), ...challenge(error, { exchange, path, publicUrl, id })]
  const reply = new Reply({ exchange, headers: [], takesStream: false, hide: (text) => text })
  reply.finish(fault.status, answerText(id, { error: fault.error }), more)
}

/** The header by which clients find out how to sign in (RFC 9728, RFC 6750). */
function challenge(error: ApiError, { exchange, path, publicUrl }: RefusedRequest): readonly string[] {
  if (error.status !== 401 && !(error.code === 'forbidden' && error.message.includes(invokeScope))) return []
  const base = publicUrl ?? `http://${exchange.header('host') ?? 'localhost'}`
  const metadata = `${base.replace(/\/$/, '')}/.well-known/oauth-protected-resource${basePathOf(path)}/${path.kind}`
  const shown = exchange.header('authorization') === undefined ? '' : 'error="invalid_token", '
  const reason = error.status === 401 ? shown : 'error="insufficient_scope", '
  return [
    'www-authenticate',
    `Bearer realm="gatehouse", ${reason}scope="${invokeScope}", resource_metadata="${metadata.replaceAll('"', '')}"`,
  ]
}
