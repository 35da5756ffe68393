import type { Attempt } from '../attempts/attempt.ts'
import type { ChargedExchange, ExpectedOutput } from '../metering/fill-usage.ts'
import { fieldsOf } from '../outgoing/prepare.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { factsByName } from '../prices/resolve.ts'
import type { Target } from '../targets/target.ts'
import { isBounded, leastOutput, outputTokens } from './estimate.ts'
import { outputReader } from './output-bound.ts'

/** Returns the output that a request is expected to have: as much as it allows, or as much as is usual where it names no bound. */
export function expectedOutput(
  { body, reservation }: Attempt,
  target: Target,
  { exchange: { operation, work }, prices }: { readonly exchange: ChargedExchange; readonly prices: PriceSource },
): ExpectedOutput {
  const { provider, providerId, model } = target
  const isOwnPath = operation.name === 'proxy'
  const reader = outputReader({ dialect: work?.dialect ?? null, provider, providerId, fields: fieldsOf(target), isOwnPath })
  const json = body?.json
  const most = model === null ? undefined : factsByName(prices, providerId, model)?.limits?.output
  const unbounded = reservation?.usualOutput?.() ?? leastOutput
  return { tokens: outputTokens(json, reader, { unbounded, most }), isSure: isBounded(json, reader) }
}
