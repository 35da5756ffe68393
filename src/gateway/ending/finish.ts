import type { Attempt } from '../attempts/attempt.ts'
import { isRecalled } from '../metering/is-recalled.ts'
import { begunJob } from '../batches/begun-batch.ts'
import type { Journal } from '../journal/log-record.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import { type ChargeContext, chargeOf } from '../metering/charge-of.ts'
import { expectedOutput } from '../limits/expected-output.ts'
import { hidesInput } from '../limits/input-bound.ts'
import { reachedBy } from '../metering/may-go-on.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { GatewayMetrics } from './metrics.ts'
import { cacheStatusOf, type ExchangeEnd, lastAttempt, type Trail } from '../trail.ts'
import { toBodies, toRecord } from './record.ts'
import { redactionOf } from './redact.ts'
import { firstByteMs, upstreamMs, waitedMs } from './timing.ts'

export interface FinishDeps {
  readonly journal: Journal
  readonly metrics: GatewayMetrics
  readonly prices: PriceSource
}

/** Settles, records and measures an exchange, however far it got. Called once, before the last byte goes to the client. */
export function finish({ journal, metrics, prices }: FinishDeps, trail: Trail, ending: ExchangeEnd): void {
  const last = lastAttempt(trail)
  const usage = last === null ? null : charge(last, trail, { ...ending, prices })
  const spent = last !== null && isRecalled(last) ? null : usage
  const hasFailed = ending.relayed === null || ending.relayed.status > 299
  for (const attempt of trail.attempts) {
    attempt.spent ??= attempt.reservation?.settle(attempt === last ? attempt.charge : null, reachedBy(attempt, hasFailed)) ?? null
    countSpent(metrics, attempt)
  }
  const key = trail.caller?.key
  if (key !== undefined) {
    const redaction = redactionOf(trail)
    const bodies = toBodies(trail, ending, { maxBytes: journal.maxBodyBytes, redaction })
    journal.append(toRecord(trail, ending, { key, usage, redaction }), bodies)
  }
  observe(metrics, trail, { ...ending, usage: spent })
}

function countSpent(metrics: GatewayMetrics, { charge: charged, target }: Attempt): void {
  if (charged === null || target === null) return
  const amount = charged.cost.amount ?? 0n
  if (amount > 0n) metrics.spent(target.providerId, amount)
  if (charged.metered?.inconsistent === true) metrics.contradicted(target.providerId)
}

/** Meters and prices the last attempt, and notes the job that it began; those before it were charged as they ended. */
function charge(
  attempt: Attempt,
  trail: Trail,
  { relayed, error, prices }: Pick<ExchangeEnd, 'relayed' | 'error'> & Pick<ChargeContext, 'prices'>,
): Usage | null {
  attempt.charge ??= chargeOf(attempt, relayed, { prices, expected: expectedOutput, hidesInput, exchange: chargedExchange(trail), error })
  attempt.job = begunJob(attempt, trail, relayed)
  return attempt.charge.metered?.usage ?? null
}

const chargedExchange = ({ operation, work, exchange, receivedAt, before }: Trail) => ({
  before,
  operation,
  method: exchange.method,
  work,
  receivedAt,
})

function observe(metrics: GatewayMetrics, trail: Trail, ending: ExchangeEnd & { readonly usage: Usage | null }): void {
  const { startedAt, method } = trail.exchange
  const { relayed } = ending
  const durationMs = performance.now() - startedAt
  metrics.record({
    operation: trail.operation.name,
    method,
    status: ending.status,
    outcome: ending.outcome,
    provider: lastAttempt(trail)?.target?.providerId ?? null,
    stream: relayed?.stream ?? false,
    cacheStatus: cacheStatusOf(trail),
    durationMs,
    upstreamMs: upstreamMs(trail, relayed),
    firstByteMs: firstByteMs(trail, relayed),
    overheadMs: durationMs - waitedMs(trail, relayed),
    usage: ending.usage,
  })
}
