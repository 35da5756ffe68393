import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { countLogs, needsLogs, scopeConditions, valueConditions } from '../logs/index.ts'
import { sampleCosts, sampleLogs, type RowSample } from './estimate-samples.ts'
import { countWithinMs, soon } from './exports.ts'
import { formats } from './formats.ts'
import { mostRowsOfPart } from './run.ts'
import { momentsOf, ofTraits, requestsOf, stretchOf, type EstimateRequest, type Stretch } from './stretch.ts'

/** The size of the file of an export; null: it cannot be found soon. */
export interface Estimate {
  readonly rows: number | null
  readonly bytes: number | null
  /** The rows were counted, not derived from some of them. */
  readonly isExact: boolean
  readonly sampledRows: number
}

export const unknownSize: Estimate = { rows: null, bytes: null, isExact: false, sampledRows: 0 }

/** Estimates the size of the file of an export, within seconds for any number of rows. */
export async function estimateExport(em: EntityManager, wanted: EstimateRequest, deps: Deps): Promise<Estimate> {
  const stretch = await stretchOf(em, wanted, deps)
  if (stretch === null) return unknownSize
  if (wanted.kind === 'focus') {
    const costs = await sampleCosts(em, wanted, stretch)
    return costs === null ? unknownSize : sized(wanted, costs, { rows: costs.total, isExact: false })
  }
  const told = await estimateLogs(em, stretch)
  try {
    return sized(wanted, await sampleLogs(em, wanted, { stretch, deps }), told)
  } catch (error) {
    // Logs that cannot be opened, because the log store does not answer for example, leave the size unknown.
    if (error instanceof ApiError) return { ...unknownSize, ...told }
    throw error
  }
}

/** Returns how many rows the file of an export would have; null: it cannot be found soon. */
export async function expectedRows(em: EntityManager, wanted: EstimateRequest, deps: Deps): Promise<number | null> {
  const stretch = await stretchOf(em, wanted, deps)
  if (stretch === null) return null
  return wanted.kind === 'focus' ? ((await sampleCosts(em, wanted, stretch))?.total ?? null) : (await estimateLogs(em, stretch)).rows
}

type RowCount = Pick<Estimate, 'rows' | 'isExact'>

/** Counts where that is quick; otherwise takes the counts of roll-ups, less the share that filters unknown to them leave out of some logs. */
async function estimateLogs(em: EntityManager, stretch: Stretch): Promise<RowCount> {
  const { scope, filter } = stretch
  const counted = await soon(em, countWithinMs, (inner) => countLogs(inner, scope, { most: 2 ** 31 - 1, filter }))
  if (counted !== null) return { rows: counted, isExact: true }
  const share = needsLogs(filter) ? await soon(em, countWithinMs, (inner) => shareOf(inner, stretch)) : 1
  return { rows: share === null ? null : Math.round(requestsOf(stretch) * share), isExact: false }
}

const seenAtPlace = 500

/** Returns the share of the requests that all filters leave of those that filters of roll-ups leave, from some of them. */
async function shareOf(em: EntityManager, stretch: Stretch): Promise<number> {
  const { scope, filter, until } = stretch
  const known = [...scopeConditions(scope), ...valueConditions(ofTraits(filter))]
  const all = valueConditions(filter)
  let [seen, matching] = [0, 0]
  for (const moment of momentsOf(stretch)) {
    const [found] = await em.execute<{ seen: number; matching: number }[]>(
      `SELECT count(*)::int AS seen, count(*) FILTER (WHERE ${all.map(({ sql }) => sql).join(' AND ')})::int AS matching
         FROM (SELECT * FROM logs l WHERE ${known.map(({ sql }) => sql).join(' AND ')} AND l.created_at BETWEEN ?::timestamptz AND ?::timestamptz
                ORDER BY l.created_at LIMIT ${seenAtPlace}) l`,
      [
        ...all.flatMap(({ values }) => values),
        ...known.flatMap(({ values }) => values),
        ...[moment, until].map((ms) => new Date(ms).toISOString()),
      ],
    )
    seen += found?.seen ?? 0
    matching += found?.matching ?? 0
  }
  return seen === 0 ? 0 : matching / seen
}

/** Returns the size of a file with so many rows like the sampled ones. */
function sized({ format }: EstimateRequest, { rows, columns }: RowSample, told: RowCount): Estimate {
  const made = formats[format]
  const [empty, some] = [made.piece([], columns, 0), made.piece(rows, columns, 0)]
  const endBytes = (notes: readonly unknown[]) => made.end?.(notes, columns, some.bytes.length).length ?? 0
  const head = empty.bytes.length + endBytes([])
  if (told.rows === 0) return { ...told, bytes: head, sampledRows: 0 }
  if (told.rows === null || rows.length === 0) return { ...told, bytes: null, sampledRows: 0 }
  const ofGroup = some.note === null ? 0 : endBytes([some.note]) - endBytes([])
  const ofRow = (some.bytes.length - empty.bytes.length) / rows.length
  const bytes = head + Math.ceil(told.rows / mostRowsOfPart) * ofGroup + told.rows * ofRow
  return { ...told, bytes: Math.round(bytes), sampledRows: rows.length }
}
