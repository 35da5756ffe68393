import type { EntityManager } from '@mikro-orm/postgresql'
import { cutWord } from '../../app/journal/log-words.ts'
import type { WordHash } from '../../app/secrets/word-hash.ts'
import { arrayText } from '../../lib/text/array-text.ts'
import { type Cursor, cursorOf } from './cursor.ts'
import { directionOf, findLogs, findLogsAt, type Place } from './find-logs.ts'
import type { LogRow } from './log-fields.ts'
import type { LogFilter } from './log.schema.ts'
import type { LogScope } from './logs.queries.ts'
import { timeConditions } from './logs.queries.ts'

/** Logs whose bodies are to be read, in the order of the filter. */
export interface Look {
  readonly logs: readonly LogRow[]
  /** All logs up to there were looked at; null: there are no more. */
  readonly end: Cursor | null
  /** True if the index of words named them: their bodies are worth being fetched from elsewhere. */
  readonly isIndexed: boolean
}

export interface LogRange {
  readonly em: EntityManager
  readonly scope: LogScope
  readonly filter: LogFilter
}

const perLook = 200

/** Looks at one log after the other. */
export async function* lookAtAll({ em, scope, filter }: LogRange): AsyncGenerator<Look> {
  for (let after = filter.after; ;) {
    const logs = await findLogs(em, scope, { limit: perLook, filter: { ...filter, after } })
    const last = logs.at(-1)
    const end = last === undefined || logs.length < perLook ? null : cursorOf(last)
    yield { logs, end, isIndexed: false }
    if (end === null) return
    after = end
  }
}

/** So many logs are looked at before the index is asked: frequent words are among them. */
const firstLook = 500
/** So many places the index is asked for at a time. */
const mostPlaces = 2000

/** Yields logs that have all of some words, by their index. */
export async function* lookAtWords(
  looking: LogRange & { readonly hash: WordHash; readonly words: readonly string[] },
): AsyncGenerator<Look> {
  const { em, scope, filter, hash, words } = looking
  const wanted: WantedHashes = {
    all: arrayText(words.map((word) => String(hash.of(scope.organisationId, word)))),
    cut: arrayText([String(hash.of(scope.organisationId, cutWord))]),
  }
  const first = await findLogs(em, scope, { limit: firstLook, filter })
  const last = first.at(-1)
  const end = last === undefined || first.length < firstLook ? null : cursorOf(last)
  yield { logs: await thoseWith(looking, first, wanted), end, isIndexed: true }
  if (end !== null) yield* lookInIndex({ ...looking, filter: { ...filter, after: end } }, wanted)
}

/** Hashes as texts of arrays: those that a log must have, and those that it has instead if its words are not all there. */
interface WantedHashes {
  readonly all: string
  readonly cut: string
}

/** Returns those of some logs that have the words, or may have them. */
async function thoseWith(
  { em, scope: { organisationId } }: LogRange,
  logs: readonly LogRow[],
  { all, cut }: WantedHashes,
): Promise<readonly LogRow[]> {
  if (logs.length === 0) return []
  const times = logs.map(({ created_at: at }) => at)
  const [first, end] = [Math.min(...times) - 1, Math.max(...times) + 1].map((ms) => new Date(ms).toISOString())
  const rows = await em.execute<{ id: string }[]>(
    `SELECT w.id FROM log_words w WHERE w.organisation_id = ? AND w.created_at BETWEEN ?::timestamptz AND ?::timestamptz AND w.id = ANY (?::uuid[])
        AND (w.words @> ?::int[] OR w.words @> ?::int[])`,
    [organisationId, first, end, arrayText(logs.map(({ id }) => id)), all, cut],
  )
  const ids = new Set(rows.map(({ id }) => id))
  return logs.filter(({ id }) => ids.has(id))
}

type FoundPlace = Place & { readonly ms: number }

/** Asks the index of one day after the other: of more at a time, the fewer are found. */
async function* lookInIndex(looking: LogRange, wanted: WantedHashes): AsyncGenerator<Look> {
  const { em, scope, filter } = looking
  const days = await daysOfWords(looking)
  let [many, after]: [number, Place | null] = [1, null]
  for (let from = 0; from < days.length;) {
    const asked = days.slice(from, from + many)
    const places = await placesIn(looking, { days: asked, after, wanted })
    const last = places.at(-1)
    const isFull = places.length === mostPlaces
    if (!isFull) [from, many] = [from + many, many * 2]
    after = last ?? after
    const end = last === undefined || (!isFull && from >= days.length) ? null : { createdAt: last.ms, id: last.id }
    if (last === undefined) continue
    yield { logs: await findLogsAt(em, scope, { places, filter }), end, isIndexed: true }
  }
  yield { logs: [], end: null, isIndexed: true }
}

interface DaysQuery {
  readonly days: readonly string[]
  readonly after: Place | null
  readonly wanted: WantedHashes
}

async function placesIn(
  { em, scope: { organisationId }, filter }: LogRange,
  { days, after, wanted: { all, cut } }: DaysQuery,
): Promise<readonly FoundPlace[]> {
  const direction = directionOf(filter)
  const conditions = [
    { sql: 'l.organisation_id = ?', values: [organisationId] },
    ...timeConditions(filter),
    ...(after === null
      ? []
      : [{ sql: `(l.created_at, l.id) ${direction === 'ASC' ? '>' : '<'} (?::timestamptz, ?::uuid)`, values: [after.at, after.id] }]),
  ]
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  // Scans of whole partitions and orders of an index are left out: the planner has too few facts about words.
  await em.execute(
    `SELECT set_config('app.log_words', ?, true), set_config('app.log_words_cut', ?, true), set_config('enable_seqscan', 'off', true),
            set_config('enable_indexscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`,
    [all, cut],
  )
  const found = await em.execute<FoundPlace[]>(
    `WITH found AS MATERIALIZED (${days.map((day) => `SELECT l.created_at, l.id FROM ${day} l WHERE ${where}`).join(' UNION ALL ')})
     SELECT l.created_at::text AS at, l.id, floor(extract(epoch FROM l.created_at) * 1000)::float8 AS ms FROM found l
      ORDER BY l.created_at ${direction}, l.id ${direction} LIMIT ${mostPlaces}`,
    days.flatMap(() => conditions.flatMap(({ values }) => values)),
  )
  await em.execute(
    `SELECT set_config('app.log_words', '', true), set_config('app.log_words_cut', '', true);
     SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_indexscan TO DEFAULT; SET LOCAL max_parallel_workers_per_gather TO DEFAULT`,
  )
  return found
}

/** Returns the partitions of words of the days of a filter, in its order. */
async function daysOfWords({ em, filter }: LogRange): Promise<readonly string[]> {
  const { after, time_of_generation_min: min, time_of_generation_max: max } = filter
  const at = after === undefined ? undefined : new Date(after.createdAt).toISOString()
  const [from, until] = filter.order === 'asc' ? [at ?? min, max] : [min, at ?? max]
  // Read, so that no day is dropped before the transaction ends.
  await em.execute('SELECT FROM log_words LIMIT 0')
  const rows = await em.execute<{ name: string }[]>(
    `SELECT d.name FROM (SELECT c.relname AS name, partition_day(c.relname) AS day
                           FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'log_words'::regclass) d
      WHERE d.day >= (coalesce(?::timestamptz, '-infinity') AT TIME ZONE 'UTC')::date AND d.day <= (coalesce(?::timestamptz, 'infinity') AT TIME ZONE 'UTC')::date
      ORDER BY d.day ${directionOf(filter)}`,
    [from ?? null, until ?? null],
  )
  return rows.map(({ name }) => name)
}
