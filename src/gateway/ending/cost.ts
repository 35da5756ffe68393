import { type Attempt, isRecalled } from '../attempts/attempt.ts'
import type { LoggedCharge, LoggedCost, LoggedCostLine } from '../journal/log-record.ts'
import type { Charge } from '../metering/charge.ts'
import type { CostLine, CostState } from '../prices/price-usage.ts'
import type { Trail } from '../trail.ts'

/** The sum over the attempts so far. */
interface Sum {
  readonly states: CostState[]
  readonly lines: LoggedCostLine[]
  readonly unpriced: string[]
  readonly charges: LoggedCharge[]
  amount: bigint
  catalogue: string | null
  saved: bigint | null
}

/** Returns the cost of an exchange for the log: the sum over its attempts, of which each is priced once. Null: no target was reached. */
export function loggedCost({ attempts }: Pick<Trail, 'attempts'>): LoggedCost | null {
  const sum: Sum = { states: [], lines: [], unpriced: [], charges: [], amount: 0n, catalogue: null, saved: null }
  for (const [index, attempt] of attempts.entries()) if (attempt.charge !== null) addCharge(sum, attempt, { charge: attempt.charge, index })
  if (sum.states.length === 0) return null
  const { lines, unpriced, charges, catalogue, saved } = sum
  const state = stateOf(sum.states)
  const amount = state === 'unpriced' ? null : String(sum.amount)
  return { state, amount, catalogue, saved: saved === null ? null : String(saved), lines, unpriced, charges }
}

function addCharge(sum: Sum, attempt: Attempt, { charge, index }: { readonly charge: Charge; readonly index: number }): void {
  const { cost, catalogue, saved } = charge
  sum.states.push(cost.state)
  sum.amount += cost.amount ?? 0n
  sum.catalogue ??= catalogue
  sum.saved ??= saved
  for (const line of cost.lines) sum.lines.push(loggedLine(line, index))
  for (const name of cost.unpriced) if (!sum.unpriced.includes(name)) sum.unpriced.push(name)
  const logged = loggedCharge(attempt, charge, index)
  if (logged !== null) sum.charges.push(logged)
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

/** The usage object stands whole in the log: the scan reads none of more than 8 KB. */
function loggedCharge(attempt: Attempt, { metered, pricedModel, facts }: Charge, index: number): LoggedCharge | null {
  if (metered === null || facts === null) return null
  const { counts, raw, reported, estimated, inconsistent, model } = metered
  return {
    attempt: index,
    provider: attempt.target?.providerId ?? null,
    sent: attempt.target?.model ?? null,
    answered: model,
    priced: pricedModel,
    recalled: isRecalled(attempt),
    counts,
    facts,
    reported: reported === null ? null : String(reported),
    estimated,
    inconsistent,
    usage: raw,
    slug: attempt.target?.view?.slug ?? null,
  }
}
