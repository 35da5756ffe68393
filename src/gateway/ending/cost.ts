import { isRecalled } from '../attempts/attempt.ts'
import type { LoggedCharge, LoggedCost, LoggedCostLine } from '../journal/log-record.ts'
import type { Charge } from '../metering/charge.ts'
import type { Metered } from '../metering/meter.ts'
import type { CostLine, CostState } from '../prices/price-usage.ts'
import type { Trail } from '../trail.ts'

/** Returns the cost of an exchange for the log: the sum over its attempts, of which each is priced once. Null: no target was reached. */
export function loggedCost({ attempts }: Pick<Trail, 'attempts'>): LoggedCost | null {
  const charged = attempts.flatMap((attempt, index) => (attempt.charge === null ? [] : [{ attempt, charge: attempt.charge, index }]))
  if (charged.length === 0) return null
  const costs = charged.map(({ charge }) => charge.cost)
  const state = stateOf(costs.map((cost) => cost.state))
  return {
    state,
    amount: state === 'unpriced' ? null : String(costs.reduce((sum, { amount }) => sum + (amount ?? 0n), 0n)),
    catalogue: charged.find(({ charge }) => charge.catalogue !== null)?.charge.catalogue ?? null,
    saved:
      charged
        .map(({ charge }) => charge.saved)
        .find((saved) => saved !== null)
        ?.toString() ?? null,
    lines: charged.flatMap(({ charge, index }) => charge.cost.lines.map((line) => loggedLine(line, index))),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))],
    charges: charged.flatMap(({ attempt, charge, index }) =>
      charge.metered === null || charge.facts === null
        ? []
        : [
            loggedCharge(charge, charge.metered, {
              index,
              sent: attempt.target?.model ?? null,
              provider: attempt.target?.providerId ?? null,
              recalled: isRecalled(attempt),
            }),
          ],
    ),
  }
}

/** The whole is priced when every part that is charged is, and a lower bound when some are. */
export function stateOf(states: readonly CostState[]): CostState {
  const charged = states.filter((state) => state !== 'not_charged')
  if (charged.length === 0) return 'not_charged'
  if (charged.every((state) => state === 'unpriced')) return 'unpriced'
  if (charged.some((state) => state === 'unpriced' || state === 'partly_priced')) return 'partly_priced'
  return charged.includes('estimated') ? 'estimated' : 'priced'
}

const loggedLine = ({ dimension, count, unit, rate, amount, source, note }: CostLine, attempt: number): LoggedCostLine => ({
  attempt,
  dimension,
  count,
  unit,
  rate: rate === null ? null : String(rate),
  amount: String(amount),
  source,
  note,
})

interface ChargedAttempt {
  readonly index: number
  readonly provider: string | null
  readonly sent: string | null
  readonly recalled: boolean
}

/** Longer usage objects are none that a provider sends. */
const longestUsage = 4096

function loggedCharge({ pricedModel, facts }: Charge, metered: Metered, { index, provider, sent, recalled }: ChargedAttempt): LoggedCharge {
  const { counts, raw, reported, estimated, inconsistent, model } = metered
  return {
    attempt: index,
    provider,
    sent,
    answered: model,
    priced: pricedModel,
    recalled,
    counts,
    facts,
    reported: reported === null ? null : String(reported),
    estimated,
    inconsistent,
    usage: raw !== null && JSON.stringify(raw).length <= longestUsage ? raw : null,
  }
}
