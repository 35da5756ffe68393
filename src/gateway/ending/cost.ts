import type { Attempt } from '../attempts/attempt.ts'
import { isRecalled } from '../metering/is-recalled.ts'
import type { LoggedCharge, LoggedCost, LoggedCostLine } from '../journal/log-record.ts'
import type { Charge } from '../metering/charge.ts'
import type { MeteredUsage } from '../metering/meter.ts'
import type { CostLine, CostState } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import { stateOf } from '../prices/state-of.ts'
import { saysProvisioned } from '../prices/terms.ts'
import type { Trail } from '../trail.ts'

/** An attempt that has its charge. */
interface ChargedAttempt {
  readonly attempt: Attempt
  readonly charge: Charge
  /** Its place in the trail. */
  readonly index: number
}

/** Returns the cost of an exchange for the log: the sum over its attempts, of which each is priced once. Null: no target was reached. */
export function loggedCost({ attempts }: Pick<Trail, 'attempts'>): LoggedCost | null {
  const [first] = attempts
  if (attempts.length === 1 && first !== undefined) {
    return first.charge === null ? null : costOf({ attempt: first, charge: first.charge, index: 0 })
  }
  const charged = attempts.flatMap((attempt, index) => (attempt.charge === null ? [] : [{ attempt, charge: attempt.charge, index }]))
  return charged.length === 0 ? null : sumOf(charged)
}

/** Nearly every exchange has one attempt: it needs no collection. */
function costOf(charged: ChargedAttempt): LoggedCost {
  const { cost, catalogue, saved } = charged.charge
  const { state, unpriced } = cost
  const lines = linesOf(charged)
  return {
    state,
    amount: amountOf(state, cost.amount ?? 0n),
    catalogue,
    saved: textOf(saved),
    lines,
    unpriced,
    charges: chargesOf(charged),
  }
}

function sumOf(charged: readonly ChargedAttempt[]): LoggedCost {
  const charges = charged.map(({ charge }) => charge)
  const state = stateOf(charges.map(({ cost }) => cost.state))
  const amount = charges.reduce((sum, { cost }) => sum + (cost.amount ?? 0n), 0n)
  return {
    state,
    amount: amountOf(state, amount),
    catalogue: charges.find(({ catalogue }) => catalogue !== null)?.catalogue ?? null,
    saved: textOf(charges.find(({ saved }) => saved !== null)?.saved ?? null),
    lines: charged.flatMap(linesOf),
    unpriced: [...new Set(charges.flatMap(({ cost }) => cost.unpriced))],
    charges: charged.flatMap(chargesOf),
  }
}

const amountOf = (state: CostState, amount: bigint): string | null => (state === 'unpriced' ? null : String(amount))
const textOf = (amount: bigint | null): string | null => (amount === null ? null : String(amount))
const linesOf = ({ charge, index }: ChargedAttempt): readonly LoggedCostLine[] => charge.cost.lines.map((line) => loggedLine(line, index))

const loggedLine = ({ dimension, count, unit, rate, amount, source, note }: CostLine, attempt: number): LoggedCostLine => ({
  attempt,
  dimension,
  count,
  unit,
  rate: textOf(rate),
  amount: String(amount),
  source,
  note,
})

function chargesOf(charged: ChargedAttempt): readonly LoggedCharge[] {
  const { parts } = charged.charge
  return parts === null ? ownCharges(charged) : parts.flatMap((charge) => ownCharges({ ...charged, charge }))
}

/**
 * An unknown charge has no counts and no facts: a reader without `untold`, such as the former release in a recompute, takes it for unpriced too, and
 * never for free.
 */
function ownCharges(charged: ChargedAttempt): readonly LoggedCharge[] {
  const { metered, facts, cost } = charged.charge
  if (cost.state === 'unpriced' && facts === null)
    return [{ ...loggedCharge(charged, { ...nothingMetered, model: metered?.model ?? null, facts: nothingKnown }), untold: true }]
  return metered === null || facts === null ? [] : [loggedCharge(charged, { ...metered, facts })]
}

type PricedUsage = Pick<MeteredUsage, 'counts' | 'raw' | 'reported' | 'estimated' | 'inconsistent' | 'model'> & {
  readonly facts: PriceFacts
}

/** The usage object stands whole in the log: the scan reads none of more than 8 KB. */
function loggedCharge({ attempt, charge: { pricedModel, asked }, index }: ChargedAttempt, used: PricedUsage): LoggedCharge {
  const { counts, raw, reported, estimated, inconsistent, model, facts } = used
  const { provider, sent, slug, skipped } = targetOf(attempt, raw)
  return {
    attempt: index,
    provider,
    sent: asked ?? sent,
    answered: model,
    priced: pricedModel,
    recalled: isRecalled(attempt),
    counts,
    facts,
    reported: textOf(reported),
    estimated,
    inconsistent,
    usage: raw,
    slug,
    skipped,
  }
}

const targetOf = ({ target }: Attempt, usage: LoggedCharge['usage']) => ({
  provider: target?.providerId ?? null,
  sent: target?.model ?? null,
  slug: target?.view?.slug ?? null,
  skipped: target?.skipsPtuCost === true && saysProvisioned(usage),
})

const nothingMetered = { counts: {}, raw: null, reported: null, estimated: false, inconsistent: false } as const
const nothingKnown: PriceFacts = {
  startedAt: 0,
  mode: null,
  promptTokens: 0,
  geo: null,
  region: null,
  size: null,
  quality: null,
  hasTokens: false,
}
