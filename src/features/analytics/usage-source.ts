import type { EntityManager } from '@mikro-orm/postgresql'
import { hourMs, dayMs } from './steps.ts'
import {
  figureConditions,
  needsLogs,
  scopeConditions,
  valueConditions,
  type Condition,
  type FilterValues,
  type LogScope,
} from '../logs/index.ts'

/** The requests that figures are about. Times are epoch milliseconds; the last one belongs to the range. */
export interface Usage {
  readonly scope: LogScope
  readonly filters: FilterValues
  readonly from: number
  readonly to: number
  /** The longest time that one figure may stand for. */
  readonly step: 'minute' | 'hour' | 'day'
  /** True: values are distinguished to the letter, as lists of logs do; otherwise a model in any case is one. */
  readonly exact?: boolean
  /** Logs are read on one of so many of their pages, and counted so many times; absent: all are. */
  readonly every?: number
}

/** The times for which the database has roll-ups and logs. */
export interface KeptTimes {
  /** Roll-ups hold all logs from then on. */
  readonly completeFrom: number
  /** The logs themselves are there from then on. */
  readonly logsFrom: number
}

export interface Part {
  readonly table: 'logs' | 'hours' | 'days'
  readonly from: number
  readonly until: number
}

const up = (ms: number, unit: number): number => Math.ceil(ms / unit) * unit
const down = (ms: number, unit: number): number => Math.floor(ms / unit) * unit

/**
 * Returns the parts of a range and the source table of each: whole days and hours come from roll-ups, the rest from logs. Where the logs are gone, a
 * range begins with the hour or day in which it begins.
 */
export function partsOf(usage: Pick<Usage, 'from' | 'to' | 'step'>, { completeFrom, logsFrom }: KeptTimes): readonly Part[] {
  const end = usage.to + 1
  if (usage.step === 'minute') return [{ table: 'logs', from: usage.from, until: end }]
  const from = usage.from < logsFrom ? down(usage.from, hourMs) : usage.from
  const hours = { from: Math.min(Math.max(up(from, hourMs), up(completeFrom, hourMs)), end), until: Math.max(down(end, hourMs), from) }
  if (hours.until <= hours.from) return [{ table: 'logs', from, until: end }]
  const days = { from: up(hours.from, dayMs), until: down(hours.until, dayMs) }
  const middle: readonly Part[] =
    usage.step === 'hour' || days.until <= days.from
      ? [{ table: 'hours', ...hours }]
      : [
          { table: 'hours', from: hours.from, until: days.from },
          { table: 'days', ...days },
          { table: 'hours', from: days.until, until: hours.until },
        ]
  const all: readonly Part[] = [{ table: 'logs', from, until: hours.from }, ...middle, { table: 'logs', from: hours.until, until: end }]
  return all.filter((part) => part.from < part.until)
}

/** The tables of roll-ups, and those of the users whom requests name. */
const tables = { hours: 'usage_hours', days: 'usage_days' } as const
const userTables = { hours: 'usage_user_hours', days: 'usage_user_days' } as const
const logsOf = ({ every = 1 }: Usage): string => (every === 1 ? 'usage_logs' : 'usage_sampled_logs')

const traits = `l.bucket, l.workspace_id, l.api_key_id, l.user_id, l.provider, l.provider_slug, l.model, l.config_slug, l.prompt_slug, l.status, l.outcome,
  l.cache_status, l.retry_count, l.options_tried, l.first_seen, l.last_seen`
const sums = [
  'requests',
  'input_tokens',
  'input_known',
  'output_tokens',
  'output_known',
  'total_tokens',
  'total_known',
  'cost_pico',
  'saved_pico',
  'duration_us',
]

/** Returns SQL of the columns of a row; each log of a sample stands for several. */
const columnsOf = (every = 1): string =>
  [traits, ...sums.map((name) => (every === 1 ? `l.${name}` : `l.${name} * ${every} AS ${name}`)), latencyOf(every)].join(', ')
/** A log has one cell, whose count is its lower half. */
const latencyOf = (every = 1): string => (every === 1 ? 'l.latency' : `ARRAY[l.latency[1] + ${every - 1}] AS latency`)

/** Text of SQL with the values of its question marks. */
export interface Fragment {
  readonly sql: string
  readonly values: readonly unknown[]
}

const time = (ms: number): string => new Date(ms).toISOString()

const within = ({ from, until }: Pick<Part, 'from' | 'until'>): Condition => ({
  sql: 'l.bucket >= ?::timestamptz AND l.bucket < ?::timestamptz',
  values: [time(from), time(until)],
})

function select(fields: string, table: string, conditions: readonly Condition[]): Fragment {
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  return { sql: `SELECT ${fields} FROM ${table} l WHERE ${where}`, values: conditions.flatMap(({ values }) => values) }
}

function union(parts: readonly Fragment[]): Fragment {
  return { sql: `(${parts.map(({ sql }) => sql).join('\nUNION ALL\n')}) l`, values: parts.flatMap(({ values }) => values) }
}

const conditionsOf = ({ scope, filters, exact = false }: Usage): readonly Condition[] => [
  ...scopeConditions(scope),
  ...(exact ? valueConditions(filters) : figureConditions(filters)),
]

/** Returns true if more than a workspace narrows a usage. */
const isNarrowed = ({ scope, filters }: Usage): boolean => scope.own !== null || Object.values(filters).some((value) => value !== undefined)

/** Returns the rows of a usage `l`, each of one log or of many that have their traits in common. */
export async function usageSource(em: EntityManager, usage: Usage, logsFrom: number): Promise<Fragment> {
  const conditions = conditionsOf(usage)
  const parts = needsLogs(usage.filters) ? onlyLogs(usage) : partsOf(usage, await keptOf(em, logsFrom))
  return union(
    parts.map((part) =>
      part.table === 'logs'
        ? select(columnsOf(usage.every), logsOf(usage), [...conditions, within(part)])
        : select(columnsOf(), tables[part.table], [...conditions, within(part)]),
    ),
  )
}

type SettledTable = 'usage_settled_days' | 'usage_settled_user_days'
const settledIn = (table: SettledTable): Condition => ({ sql: `l.bucket IN (SELECT bucket FROM ${table})`, values: [] })

/** The days of a range, one by one: for a few single days an index finds the matching rows, and for a range of days it reads all. */
const eachDay = `SELECT generate_series(?::timestamptz, ?::timestamptz, interval '24 hours')`
const eachDayOf = ({ from, until }: Range): Condition => ({
  sql: `l.bucket = ANY (ARRAY(${eachDay}))`,
  values: [time(from), time(until - dayMs)],
})
const unsettledIn = (table: SettledTable, { from, until }: Range): Condition => ({
  sql: `l.bucket = ANY (ARRAY(${eachDay} EXCEPT SELECT bucket FROM ${table}))`,
  values: [time(from), time(until - dayMs)],
})

/** The traits by which latencies of settled days are kept. */
export const settledTraits: ReadonlySet<string> = new Set([
  'provider',
  'provider_slug',
  'model',
  'config_slug',
  'prompt_slug',
  'status',
  'api_key_id',
])

/**
 * Returns SQL of a source `l` of latencies, with the column `by` if one is given: days that are over come from merged rows. Null: no merged row
 * fits the filters or the column, and the latencies are read from `usageSource`.
 */
export async function latencySource(
  em: EntityManager,
  usage: Usage,
  { by, logsFrom }: { readonly by: string | null; readonly logsFrom: number },
): Promise<Fragment | null> {
  const trait = by === null || by === 'workspace_id' ? 'all' : settledTraits.has(by) ? by : null
  if (trait === null || isNarrowed(usage)) return null
  const conditions = conditionsOf(usage)
  const column = by === null ? '' : `, l.${by}::text AS ${by}`
  const merged = by === null || by === 'workspace_id' ? column : `, l.value AS ${by}`
  const parts = partsOf(usage, await keptOf(em, logsFrom))
  return union(
    parts.flatMap((part) => {
      const all = [...conditions, within(part)]
      if (part.table === 'logs') return [select(`l.bucket, ${latencyOf(usage.every)}${column}`, logsOf(usage), all)]
      if (part.table === 'hours') return [select(`l.bucket, l.latency${column}`, tables.hours, all)]
      const ofTrait: Condition = { sql: 'l.trait = ?', values: [trait] }
      return [
        select(`l.bucket, l.latency${merged}`, 'usage_day_latencies', [...all, ofTrait, settledIn('usage_settled_days')]),
        select(`l.bucket, l.latency${column}`, tables.days, [...conditions, unsettledIn('usage_settled_days', part)]),
      ]
    }),
  )
}

/** Returns the logs of a usage `l` that have a key of metadata, with its value as `l.metadata_value`. */
export function metadataSource(usage: Usage, key: string): Fragment {
  const named: Condition = { sql: 'l.metadata ->> ? IS NOT NULL', values: [key] }
  const conditions = [...conditionsOf(usage), named, ...onlyLogs(usage).map(within)]
  const { sql, values } = select(
    `${columnsOf(usage.every)}, l.id, l.trace_id, l.metadata ->> ? AS metadata_value`,
    logsOf(usage),
    conditions,
  )
  return { sql: `(${sql}) l`, values: [key, ...values] }
}

/** Returns the cells `l.cell` of users, by `l.bucket`; days that are over come merged. Roll-ups of users only have the workspace. */
export async function userCells(em: EntityManager, usage: Usage, logsFrom: number): Promise<Fragment> {
  const parts = isNarrowed(usage) ? onlyLogs(usage) : partsOf(usage, await keptOf(em, logsFrom))
  return union(parts.flatMap((part) => userCellsOf(part, usage)))
}

const ofWholeOrganisation: Condition = { sql: 'l.workspace_id IS NULL', values: [] }

function userCellsOf(part: Part, usage: Usage): readonly Fragment[] {
  const { table } = part
  const all = [...conditionsOf(usage), within(part)]
  const rows = 'l.bucket, l.cell'
  if (table === 'hours') return [select(rows, userTables.hours, all)]
  if (table === 'logs') {
    const named: Condition = { sql: `l.metadata ->> '_user' IS NOT NULL`, values: [] }
    return [select(`l.bucket, sketch_cell(l.metadata ->> '_user') AS cell`, logsOf(usage), [...all, named])]
  }
  const place = usage.scope.workspaceId === null ? [ofWholeOrganisation] : []
  return [
    select('l.bucket, unnest(l.cells) AS cell', 'usage_day_users', [...all, ...place, settledIn('usage_settled_user_days')]),
    select(rows, userTables.days, [...conditionsOf(usage), unsettledIn('usage_settled_user_days', part)]),
  ]
}

/** The days of a range whose users are counted: those from some time on, and the last one up to its end where no later day follows. */
export function userDaysOf(
  { from, to }: Pick<Usage, 'from' | 'to'>,
  { usersFrom, now }: { readonly usersFrom: number; readonly now: number },
) {
  const first = Math.max(up(from, dayMs), up(usersFrom, dayMs))
  const until = to >= now ? up(to + 1, dayMs) : down(to + 1, dayMs)
  return first < until ? { from: first, until } : null
}

/** The place of sums of a whole organisation. */
const everywhere = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns requests and costs `l` of the users in metadata, as `l.metadata_value`: of whole days from their sums, of the rest from logs. The ranges
 * are those of the logs to read. Null: sums of users only have the workspace.
 */
export async function userSource(
  em: EntityManager,
  usage: Usage,
  now: number,
): Promise<{ readonly source: (every?: number) => Fragment; readonly ranges: readonly Range[] } | null> {
  if (isNarrowed(usage)) return null
  const [state] = await em.execute<{ at: number }[]>(
    `SELECT CASE WHEN isfinite(users_from) THEN extract(epoch FROM users_from) * 1000 ELSE extract(epoch FROM users_from) END::float8 AS at FROM usage_state`,
  )
  const days = userDaysOf(usage, { usersFrom: state?.at ?? Infinity, now })
  if (days === null) return null
  const { organisationId, workspaceId } = usage.scope
  const summed = select('l.bucket, l.name AS metadata_value, l.requests, l.cost_pico', 'usage_user_sums', [
    { sql: 'l.organisation_id = ? AND l.place = ?', values: [organisationId, workspaceId ?? everywhere] },
    // Those of a workspace lie scattered among those of others: reading all in order is faster.
    workspaceId === null ? eachDayOf(days) : within(days),
  ])
  const ranges = [
    { from: usage.from, until: Math.min(days.from, usage.to + 1) },
    { from: days.until, until: usage.to + 1 },
  ].filter(({ from, until }) => from < until)
  const named: Condition = { sql: `l.metadata ->> '_user' IS NOT NULL`, values: [] }
  const source = (every = 1) => {
    const scaled = (name: string) => (every === 1 ? `l.${name}` : `l.${name} * ${every} AS ${name}`)
    const logs = ranges.map((range) =>
      select(
        `l.bucket, l.metadata ->> '_user' AS metadata_value, ${scaled('requests')}, ${scaled('cost_pico')}`,
        logsOf({ ...usage, every }),
        [...conditionsOf(usage), named, within(range)],
      ),
    )
    return union([summed, ...logs])
  }
  return { source, ranges }
}

/** A time, its end not included. */
export interface Range {
  readonly from: number
  readonly until: number
}

/** Returns how many requests roll-ups count in some ranges for the caller, without the filter: to the hour, without those that they do not hold yet. */
export async function countRoughly(
  em: EntityManager,
  usage: Usage,
  { ranges, logsFrom }: { readonly ranges: readonly Range[]; readonly logsFrom: number },
): Promise<number> {
  const kept = await keptOf(em, logsFrom)
  const conditions = scopeConditions(usage.scope)
  const parts = ranges
    .flatMap(({ from, until }) => partsOf({ from: down(from, hourMs), to: up(until, hourMs) - 1, step: 'day' }, kept))
    .flatMap((part) => (part.table === 'logs' ? [] : [select('l.requests', tables[part.table], [...conditions, within(part)])]))
  if (parts.length === 0) return 0
  const { sql, values } = union(parts)
  const [row] = await em.execute<{ requests: number | null }[]>(`SELECT sum(l.requests)::float8 AS requests FROM ${sql}`, [...values])
  return row?.requests ?? 0
}

/** Returns the range of a usage. */
export const wholeOf = ({ from, to }: Pick<Usage, 'from' | 'to'>): readonly Range[] => [{ from, until: to + 1 }]
const onlyLogs = (usage: Usage): readonly Part[] => wholeOf(usage).map(({ from, until }) => ({ table: 'logs', from, until }))

async function keptOf(em: EntityManager, logsFrom: number): Promise<KeptTimes> {
  const [state] = await em.execute<{ at: number | null }[]>(
    `SELECT CASE WHEN isfinite(complete_from) THEN extract(epoch FROM complete_from)::float8 * 1000 END AS at FROM usage_state`,
  )
  return { completeFrom: state?.at ?? -Infinity, logsFrom }
}
