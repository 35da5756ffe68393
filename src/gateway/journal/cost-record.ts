import type { LoggedCharge, LoggedCost, LoggedCostLine } from './log-record.ts'

type LineFields = readonly [
  attempt: number,
  dimension: string,
  count: number,
  unit: string,
  rate: string | null,
  amount: string,
  source: string,
  note: string | null,
]

type ChargeFields = readonly [
  ...target: [attempt: number, provider: string | null, sent: string | null, answered: string | null, priced: string | null],
  ...flags: [recalled: boolean, estimated: boolean, inconsistent: boolean],
  ...used: [counts: LoggedCharge['counts'], facts: LoggedCharge['facts'], reported: string | null, usage: LoggedCharge['usage']],
  slug?: string | null,
]

/** A cost as a record has it: flat arrays, because the names of its fields would be longer than its figures. */
export type CostFields = readonly [
  state: LoggedCost['state'],
  amount: string | null,
  catalogue: string | null,
  saved: string | null,
  unpriced: readonly string[],
  lines: readonly LineFields[],
  charges: readonly ChargeFields[],
]

/** Returns a cost as a record has it. */
export const encodeCost = ({ state, amount, catalogue, saved, unpriced, lines, charges }: LoggedCost): CostFields => [
  state,
  amount,
  catalogue,
  saved,
  unpriced,
  lines.map(encodeLine),
  charges.map(encodeCharge),
]

const encodeLine = ({ attempt, dimension, count, unit, rate, amount, source, note }: LoggedCostLine): LineFields => [
  attempt,
  dimension,
  count,
  unit,
  rate,
  amount,
  source,
  note,
]

const encodeCharge = (charge: LoggedCharge): ChargeFields => [
  charge.attempt,
  charge.provider,
  charge.sent,
  charge.answered,
  charge.priced,
  charge.recalled,
  charge.estimated,
  charge.inconsistent,
  charge.counts,
  charge.facts,
  charge.reported,
  charge.usage,
  charge.slug,
]

/** The inverse of `encodeCost`. */
export function decodeCost([state, amount, catalogue, saved, unpriced, lines, charges]: CostFields): LoggedCost {
  return { state, amount, catalogue, saved, unpriced, lines: lines.map(decodeLine), charges: charges.map(decodeCharge) }
}

const decodeLine = ([attempt, dimension, count, unit, rate, amount, source, note]: LineFields): LoggedCostLine => ({
  attempt,
  dimension,
  count,
  unit,
  rate,
  amount,
  source,
  note,
})

const decodeCharge = (fields: ChargeFields): LoggedCharge => ({
  attempt: fields[0],
  provider: fields[1],
  sent: fields[2],
  answered: fields[3],
  priced: fields[4],
  recalled: fields[5],
  estimated: fields[6],
  inconsistent: fields[7],
  counts: fields[8],
  facts: fields[9],
  reported: fields[10],
  usage: fields[11],
  slug: fields[12] ?? null,
})
