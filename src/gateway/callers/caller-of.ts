import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { type Caller, identify, type IdentifyDeps, identifyById } from './identify.ts'

/** Returns the caller of an exchange: the one that is known, that of the line of a batch, or that of its headers. Throws, or rejects, as `identify`. */
export function callerOf(
  exchange: Pick<Exchange, 'caller' | 'line' | 'clientAddress'>,
  headers: CallerHeaders,
  deps: Omit<IdentifyDeps, 'address'>,
): MaybePromise<Caller> {
  if (exchange.caller !== null) return exchange.caller
  if (exchange.line !== undefined) return identifyById(exchange.line.keyId, deps)
  return identify(headers, { ...deps, address: exchange.clientAddress })
}
