import type { JsonWriter } from '../../lib/json/json-writer.ts'
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
  skipped?: boolean,
  untold?: boolean,
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

/** Writes a cost as a record has it. */
export function writeCost(json: JsonWriter, { state, amount, catalogue, saved, unpriced, lines, charges }: LoggedCost): void {
  json.open('[')
  json.value(state)
  json.value(amount)
  json.value(catalogue)
  json.value(saved)
  json.value(unpriced)
  json.open('[')
  for (const line of lines) writeLine(json, line)
  json.close(']')
  json.open('[')
  for (const charge of charges) writeCharge(json, charge)
  json.close(']')
  json.close(']')
}

function writeLine(json: JsonWriter, line: LoggedCostLine): void {
  json.open('[')
  json.value(line.attempt)
  json.value(line.dimension)
  json.value(line.count)
  json.value(line.unit)
  json.value(line.rate)
  json.value(line.amount)
  json.value(line.source)
  json.value(line.note)
  json.close(']')
}

function writeCharge(json: JsonWriter, charge: LoggedCharge): void {
  json.open('[')
  json.value(charge.attempt)
  json.value(charge.provider)
  json.value(charge.sent)
  json.value(charge.answered)
  json.value(charge.priced)
  json.value(charge.recalled)
  json.value(charge.estimated)
  json.value(charge.inconsistent)
  json.value(charge.counts)
  json.value(charge.facts)
  json.value(charge.reported)
  json.value(charge.usage)
  json.value(charge.slug)
  if (charge.skipped || charge.untold === true) json.value(charge.skipped)
  if (charge.untold === true) json.value(true)
  json.close(']')
}

/** The inverse of `writeCost`. */
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
  skipped: fields[13] ?? false,
  ...(fields[14] === true && { untold: true }),
})
