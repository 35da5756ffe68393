import type { EntityManager } from '@mikro-orm/postgresql'
import { arrayText } from '../../lib/text/array-text.ts'
import type { LogRow } from './log-fields.ts'
import { type Condition, searchOf } from './log-filters.ts'
import { withNames } from './log-names.ts'
import { beginSearch, endSearch, termOf, type Search } from './log-terms.ts'
import type { LogFilter } from './log.schema.ts'
import {
  type BareRow,
  columns,
  logConditions,
  type LogScope,
  scopeConditions,
  source,
  timeConditions,
  withAdjustments,
} from './logs.queries.ts'

type FilterFields = Omit<LogFilter, 'page_size'>

interface FindOptions {
  readonly limit: number
  readonly filter: LogFilter
  /** Further conditions. */
  readonly within?: readonly Condition[]
}

/** At most `limit` logs in the order of the filter. */
export async function findLogs(em: EntityManager, scope: LogScope, { limit, filter }: FindOptions): Promise<LogRow[]> {
  const end = isNarrowed(scope, filter) ? await endOfLook(em, scope, filter) : null
  const found = end === null ? await readLogs(em, scope, { limit, filter }) : await searchLogs(em, scope, { limit, filter, end })
  return withNames(em, scope, await withAdjustments(em, scope, found))
}

/** Returns those logs at some places that a scope and a filter leave, in the order of the filter. */
export async function findLogsAt(
  em: EntityManager,
  scope: LogScope,
  { places, filter }: { readonly places: readonly Place[]; readonly filter: LogFilter },
): Promise<LogRow[]> {
  const found = await readPlaces(em, logConditions(scope, filter), { places, filter })
  return withNames(em, scope, await withAdjustments(em, scope, found))
}

export const directionOf = ({ order }: FilterFields) => (order === 'asc' ? 'ASC' : 'DESC')
const orderOf = (filter: FilterFields): string => `l.created_at ${directionOf(filter)}, l.id ${directionOf(filter)}`
const whereOf = (conditions: readonly Condition[]): string => conditions.map(({ sql }) => sql).join(' AND ')
const valuesOf = (conditions: readonly Condition[]) => conditions.flatMap(({ values }) => values)

/** Reads one log after the other, in the order of time. The bounds on `created_at` let PostgreSQL leave out whole days. */
function readLogs(em: EntityManager, scope: LogScope, { limit, filter, within = [] }: FindOptions): Promise<BareRow[]> {
  const conditions = [...logConditions(scope, filter), ...within]
  return em.execute<BareRow[]>(
    `SELECT ${columns} FROM ${source} WHERE ${whereOf(conditions)} ORDER BY ${orderOf(filter)} LIMIT ${limit}`,
    valuesOf(conditions),
  )
}

/** The logs that are looked at one by one before those of a search. */
const firstLook = 4000
/** These have an index of their own, or match every log. */
const foundWithout: ReadonlySet<string> = new Set([
  'page_size',
  'order',
  'after',
  'workspace_id',
  'time_of_generation_min',
  'time_of_generation_max',
])

/** Returns true if few logs may meet the filters, of many that there are. */
const isNarrowed = (scope: LogScope, filter: LogFilter): boolean =>
  filter.trace_id === undefined &&
  (scope.own !== null || Object.entries(filter).some(([name, value]) => value !== undefined && !foundWithout.has(name)))

/** The place of a log; `at` is `created_at` as PostgreSQL writes it. */
export interface Place {
  readonly at: string
  readonly id: string
}

/** Returns the log with which the first look ends; null: there are no more than it takes. */
async function endOfLook(em: EntityManager, scope: LogScope, filter: LogFilter): Promise<Place | null> {
  const conditions = [...scopeConditions({ ...scope, own: null }), ...timeConditions(filter)]
  const [place] = await em.execute<Place[]>(
    `SELECT l.created_at::text AS at, l.id FROM logs l WHERE ${whereOf(conditions)} ORDER BY ${orderOf(filter)} OFFSET ${firstLook} LIMIT 1`,
    valuesOf(conditions),
  )
  return place ?? null
}

/**
 * Scans the logs of the first step one by one, and then, if the page is not full, uses the indexes of terms of each day: the fewer are found, the
 * more days at a time.
 */
async function searchLogs(
  em: EntityManager,
  scope: LogScope,
  { limit, filter, end }: FindOptions & { readonly end: Place },
): Promise<BareRow[]> {
  const [near, far] = filter.order === 'asc' ? ['<', '>='] : ['>', '<=']
  const beside = (compare: string): readonly Condition[] => [
    { sql: `(l.created_at, l.id) ${compare} (?::timestamptz, ?::uuid)`, values: [end.at, end.id] },
  ]
  const first = await readLogs(em, scope, { limit, filter, within: beside(near) })
  if (first.length >= limit) return first
  const days = await daysOfLogs(em, filter, end)
  const conditions = [...logConditions(scope, filter), ...beside(far)]
  await beginSearch(em, searchIn(scope, filter))
  const places: Place[] = []
  for (let from = 0, many = 1; from < days.length && first.length + places.length < limit; from += many, many *= 2) {
    const found = days
      .slice(from, from + many)
      .map(({ name, indexed }) => placesOf(indexed ? name : 'logs', indexed ? conditions : [...conditions, onDay(name)]))
    places.push(
      ...(await em.execute<Place[]>(
        `WITH found AS MATERIALIZED (${found.map(({ sql }) => sql).join(' UNION ALL ')})
         SELECT l.created_at::text AS at, l.id FROM found l ORDER BY ${orderOf(filter)} LIMIT ${limit - first.length - places.length}`,
        found.flatMap(({ values }) => values),
      )),
    )
  }
  await endSearch(em)
  return [...first, ...(await readPlaces(em, scopeConditions(scope), { places, filter }))]
}

const placesOf = (table: string, conditions: readonly Condition[]): Condition => ({
  sql: `SELECT l.created_at, l.id FROM ${table} l WHERE ${whereOf(conditions)}`,
  values: valuesOf(conditions),
})
const onDay = (name: string): Condition => {
  const day = `${name.slice(-8, -4)}-${name.slice(-4, -2)}-${name.slice(-2)}`
  return {
    sql: `l.created_at >= ?::timestamptz AND l.created_at < ?::timestamptz + interval '1 day'`,
    values: [`${day}T00:00:00Z`, `${day}T00:00:00Z`],
  }
}

interface DayOfLogs {
  /** Its partition. */
  readonly name: string
  readonly indexed: boolean
}

/** Returns the days that are beyond the first look, in order. They stay to the end of the transaction, which has read `logs`. */
function daysOfLogs(em: EntityManager, filter: LogFilter, end: Place): Promise<DayOfLogs[]> {
  const [from, until] = filter.order === 'asc' ? [end.at, filter.time_of_generation_max] : [filter.time_of_generation_min, end.at]
  return em.execute<DayOfLogs[]>(
    `SELECT d.name, d.indexed FROM (
       SELECT c.relname AS name, partition_day(c.relname) AS day, EXISTS (
                SELECT FROM pg_index x JOIN pg_inherits p ON p.inhrelid = x.indexrelid WHERE x.indrelid = c.oid AND p.inhparent = to_regclass('logs_search')) AS indexed
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'logs'::regclass) d
      WHERE d.day >= (coalesce(?::timestamptz, '-infinity') AT TIME ZONE 'UTC')::date AND d.day <= (coalesce(?::timestamptz, 'infinity') AT TIME ZONE 'UTC')::date
      ORDER BY d.day ${directionOf(filter)}`,
    [from ?? null, until ?? null],
  )
}

/** Returns the terms that every log of a list has. */
function searchIn({ organisationId, workspaceId, own }: LogScope, filter: LogFilter): Search {
  const { all, any } = searchOf(filter)
  // A workspace is of one organisation, whose term is the longest list of all to go through.
  const ofScope = [workspaceId === null ? termOf('organisation_id', organisationId) : termOf('workspace_id', workspaceId)]
  const ofOwn = own === null ? [] : [[termOf('api_key_id', own.apiKeyId), ...(own.userId === null ? [] : [termOf('user_id', own.userId)])]]
  return { all: [...ofScope, ...all], any: [...ofOwn, ...any] }
}

async function readPlaces(
  em: EntityManager,
  conditions: readonly Condition[],
  { places, filter }: { readonly places: readonly Place[]; readonly filter: LogFilter },
) {
  if (places.length === 0) return []
  return em.execute<BareRow[]>(
    `SELECT ${columns} FROM (SELECT * FROM unnest(?::timestamptz[], ?::uuid[]) AS place (at, log_id)) p
       JOIN logs l ON l.created_at = p.at AND l.id = p.log_id LEFT JOIN workspaces w ON w.id = l.workspace_id
      WHERE ${whereOf(conditions)} ORDER BY ${orderOf(filter)}`,
    [arrayText(places.map(({ at }) => at)), arrayText(places.map(({ id }) => id)), ...valuesOf(conditions)],
  )
}
