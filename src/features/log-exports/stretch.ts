import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { needsLogs, scopeConditions, valueConditions, type LogFilter, type LogScope } from '../logs/index.ts'
import { countWithinMs, readFilters, scopeOf, soon, type ExportOwner } from './exports.ts'
import type { LogExport } from './log-export.entity.ts'
import { firstMoment } from './log-rows.ts'

/** An export whose size is asked for. */
export type EstimateRequest = ExportOwner & Pick<LogExport, 'kind' | 'format' | 'filters' | 'fields' | 'options'>

/** The logs that an export would have, and how they lie in time. */
export interface Stretch {
  readonly scope: LogScope
  readonly filter: LogFilter
  readonly from: number
  readonly until: number
  /** How many requests each day of it has, by filters that roll-ups support. */
  readonly days: readonly Day[]
}

interface Day {
  readonly from: number
  readonly until: number
  readonly requests: number
}

const dayMs = 86_400_000

/** Returns the logs of an export; null: the database takes too long. */
export async function stretchOf(
  em: EntityManager,
  wanted: EstimateRequest,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
): Promise<Stretch | null> {
  const filter = readFilters(wanted.filters)
  const until = Math.min(clock.now(), filter.time_of_generation_max === undefined ? Infinity : Date.parse(filter.time_of_generation_max))
  const from = Math.min(firstMoment(filter.time_of_generation_min, { config, end: until }), until)
  const stretch = { scope: scopeOf(wanted), filter, from, until }
  const days = await soon(em, countWithinMs, (inner) => readDays(inner, stretch))
  return days === null ? null : { ...stretch, days }
}

/** Returns the filters that roll-ups support. */
export function ofTraits({ page_size: pageSize, order, ...rest }: LogFilter): LogFilter {
  const known = Object.entries(rest).filter(([name, value]) => !needsLogs({ [name]: value }))
  return { page_size: pageSize, order, ...Object.fromEntries(known) }
}

/** Returns the conditions on the roll-ups `l` of a step. */
export function rollUpConditions({ scope, filter, from, until }: Omit<Stretch, 'days'>, stepMs: number) {
  const times = [Math.floor(from / stepMs) * stepMs, until].map((ms) => new Date(ms).toISOString())
  return [
    ...scopeConditions(scope),
    ...valueConditions(ofTraits(filter)),
    { sql: 'l.bucket BETWEEN ?::timestamptz AND ?::timestamptz', values: times },
  ]
}

async function readDays(em: EntityManager, stretch: Omit<Stretch, 'days'>): Promise<Day[]> {
  const conditions = rollUpConditions(stretch, dayMs)
  const rows = await em.execute<{ at: number; requests: number }[]>(
    `SELECT (extract(epoch FROM l.bucket) * 1000)::float8 AS at, sum(l.requests)::float8 AS requests
       FROM usage_days l WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} GROUP BY 1 ORDER BY 1`,
    conditions.flatMap(({ values }) => values),
  )
  const now = stretch.until
  return rows.map(({ at, requests }) => {
    const [from, until] = [Math.max(at, stretch.from), Math.min(at + dayMs, now)]
    // A day that is not over has all its requests in its first hours.
    const length = Math.min(at + dayMs, Math.max(now, from)) - at
    return { from, until, requests: length <= 0 ? 0 : (requests * (until - from)) / length }
  })
}

/** Returns how many requests there are, by filters that roll-ups support. */
export const requestsOf = ({ days }: Pick<Stretch, 'days'>): number => days.reduce((sum, { requests }) => sum + requests, 0)

/** The places of a stretch from which some logs are taken. */
const places = 4

/** Returns moments that lie apart by about as many requests. */
export function momentsOf(stretch: Stretch): readonly number[] {
  const all = requestsOf(stretch)
  const shares = Array.from({ length: places }, (_, at) => (at + 0.5) / places)
  return shares.map((share) =>
    all === 0 ? Math.round(stretch.from + share * (stretch.until - stretch.from)) : momentAt(stretch, share * all),
  )
}

/** Returns the moment before which there are so many requests. */
function momentAt({ from, days }: Stretch, before: number): number {
  let left = before
  for (const day of days) {
    if (left <= day.requests) return Math.round(day.from + (day.until - day.from) * (left / day.requests))
    left -= day.requests
  }
  return days.at(-1)?.until ?? from
}
