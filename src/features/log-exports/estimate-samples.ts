import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { findLogs, openLog, withBodies, type LogDetail } from '../logs/index.ts'
import { chosenFields, needBodies, typeOf, valuesOf } from './export-fields.ts'
import { countWithinMs, soon } from './exports.ts'
import { readCharges, type Charge } from './focus/charges.ts'
import { focusColumns, focusRow } from './focus/columns.ts'
import { bare, fitting, lastId } from './log-rows.ts'
import type { Column, Row } from './pieces.ts'
import { momentsOf, rollUpConditions, type EstimateRequest, type Stretch } from './stretch.ts'

/** Some rows of an export. */
export interface RowSample {
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
}

const logsAtPlace = 25

/** Reads logs from several places of a stretch, as its file would have them. */
export async function sampleLogs(
  em: EntityManager,
  wanted: EstimateRequest,
  { stretch, deps }: { readonly stretch: Stretch; readonly deps: Deps },
): Promise<RowSample> {
  const fields = chosenFields(wanted.fields)
  const found = new Map<string, LogDetail>()
  for (const moment of momentsOf(stretch)) {
    const logs = await soon(em, countWithinMs, (inner) => logsFrom(inner, stretch, { moment, whole: needBodies(fields), deps }))
    for (const log of logs ?? []) found.set(log.id, log)
  }
  return {
    columns: fields.map((name) => ({ name, type: typeOf(name) })),
    rows: await Promise.all([...found.values()].map(async (log) => valuesOf(await openLog(log, deps), fields))),
  }
}

interface Place {
  readonly moment: number
  /** Their bodies are wanted too. */
  readonly whole: boolean
  readonly deps: Deps
}

async function logsFrom(em: EntityManager, { scope, filter, until }: Stretch, { moment, whole, deps }: Place): Promise<LogDetail[]> {
  const bounds = { time_of_generation_min: undefined, time_of_generation_max: new Date(until).toISOString() }
  const after = { createdAt: moment - 1, id: lastId }
  const found = await findLogs(em, scope, { limit: logsAtPlace, filter: { ...filter, ...bounds, order: 'asc', after } })
  return whole ? withBodies(em, scope, fitting(found, deps.config.maxLogBodyBytes)) : found.map(bare)
}

interface SampledCosts extends RowSample {
  /** How many rows of costs there would be in all. */
  readonly total: number
}

const steps = { hour: { table: 'usage_hours', ms: 3_600_000 }, day: { table: 'usage_days', ms: 86_400_000 } } as const
/** The traits of charges that roll-ups have too. */
const traits = ['workspace_id', 'api_key_id', 'provider', 'provider_slug', 'model'] as const
const hourMs = 3_600_000

/** Reads charges of some hours, and derives from the traits of all requests how many rows there would be; null: it cannot be found soon. */
export async function sampleCosts(
  em: EntityManager,
  { options, organisationId }: EstimateRequest,
  stretch: Stretch,
): Promise<SampledCosts | null> {
  const { table, ms } = steps[options.granularity ?? 'day']
  const conditions = rollUpConditions(stretch, ms)
  const counted = await soon(em, countWithinMs, (inner) =>
    inner.execute<{ total: number }[]>(
      `SELECT count(*)::int AS total FROM (SELECT DISTINCT l.bucket, ${traits.map((trait) => `l.${trait}`).join(', ')} FROM ${table} l
        WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}) different`,
      conditions.flatMap(({ values }) => values),
    ),
  )
  if (counted === null) return null
  const charges = await someCharges(em, stretch, options.tag_keys ?? [])
  const different = new Set(charges.map((charge) => JSON.stringify(traits.map((trait) => charge[trait])))).size
  const start = Math.floor(stretch.until / ms) * ms
  const period = { start, end: start + ms, organisation: { id: organisationId, name: 'Organisation' } }
  return {
    columns: focusColumns,
    rows: charges.map((charge) => focusRow(charge, period)),
    total: different === 0 ? 0 : Math.round(((counted[0]?.total ?? 0) * charges.length) / different),
  }
}

/** Reads the charges of the busiest hour that a place of the stretch is in. */
async function someCharges(em: EntityManager, stretch: Stretch, tagKeys: readonly string[]): Promise<readonly Charge[]> {
  let most: readonly Charge[] = []
  for (const moment of momentsOf(stretch)) {
    const [from, until] = [Math.max(stretch.from, moment - hourMs / 2), Math.min(stretch.until, moment + hourMs / 2)]
    const found = await soon(em, countWithinMs, (inner) =>
      readCharges(inner, stretch.scope, { from, until: until + 1, filter: stretch.filter, tagKeys }),
    )
    if (found !== null && found.length > most.length) most = found
  }
  return most
}
