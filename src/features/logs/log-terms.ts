import type { EntityManager } from '@mikro-orm/postgresql'
import type { LogColumns } from '../../app/journal/columns.ts'

/** SQL of one term of `log_terms()`, with the values of its question marks. */
export interface Term {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** Facts of which `log_terms()` keeps a hash, with the number that distinguishes them. */
const hashed = {
  organisation_id: 1,
  workspace_id: 2,
  api_key_id: 3,
  user_id: 4,
  provider: 5,
  provider_slug: 6,
  model: 7,
  config_slug: 8,
  prompt_slug: 9,
  operation: 10,
  outcome: 11,
  error_code: 12,
  cache_status: 13,
  guardrail: 14,
} as const satisfies Partial<Readonly<Record<keyof LogColumns, number>>>
const ids: ReadonlySet<string> = new Set(['organisation_id', 'workspace_id', 'api_key_id', 'user_id'])

/** Facts that are small numbers. */
const plain = { status: 15, stream: 16 } as const

/** The term of whether a request succeeded. */
export const successTerm = (is: boolean): Term => ({ sql: '(23::bigint << 32) + ?::int', values: [Number(is)] })

/** The term of a pair of metadata. */
export const metadataTerm = (key: string, value: string): Term => ({
  sql: '(SELECT hashtextextended(substr(pair, 3, length(pair) - 4), 22) FROM (SELECT jsonb_build_object(?::text, ?::text)::text) one (pair))',
  values: [key, value],
})

/** Numbers of which it keeps a step, with the highest that there can be. */
export const stepped = {
  cost_pico: { seed: 17, highest: 1e20 },
  total_tokens: { seed: 18, highest: 1e12 },
  input_tokens: { seed: 19, highest: 1e12 },
  output_tokens: { seed: 20, highest: 1e12 },
  duration_ms: { seed: 21, highest: 1e9 },
} as const

export type SteppedColumn = keyof typeof stepped
export type TermColumn = keyof typeof hashed | keyof typeof plain

const isHashed = (column: TermColumn): column is keyof typeof hashed => Object.hasOwn(hashed, column)

/** Returns the term of a fact. */
export function termOf(column: TermColumn, value: string | number): Term {
  if (!isHashed(column)) return { sql: `(${plain[column]}::bigint << 32) + ?::int`, values: [value] }
  return ids.has(column)
    ? { sql: `uuid_hash_extended(?::uuid, ${hashed[column]})`, values: [value] }
    : { sql: `hashtextextended(?::text, ${hashed[column]})`, values: [value] }
}

const stepsOfE = 24
const stepOf = (value: number): number => Math.round(stepsOfE * Math.log(Math.max(value, 1)))

/** Numbers, both ends included. */
export interface Range {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** Returns the terms of all numbers in a range: a step more at each end, for logarithms that round otherwise. Null: there are too many. */
export function termsWithin(column: SteppedColumn, { min = 0, max }: Range): Term | null {
  const { seed, highest } = stepped[column]
  if (min > highest || (max ?? 0) > highest) return null
  const steps = [Math.max(stepOf(min) - 1, 0), stepOf(max ?? highest) + 1]
  return { sql: `(${seed}::bigint << 32) + generate_series(?::int, ?::int)`, values: steps }
}

/** The terms that logs must have: all of some, and one of each group. */
export interface Search {
  readonly all: readonly Term[]
  readonly any: readonly (readonly Term[])[]
}

const settings = ['all', 'any_1', 'any_2', 'any_3'] as const
const mostGroups = settings.length - 1
const arrayOf = (terms: readonly Term[]): Term => ({
  sql: `ARRAY(${terms.map(({ sql }) => `SELECT ${sql}`).join(' UNION ALL ')})::text`,
  values: terms.flatMap(({ values }) => values),
})

/**
 * Makes partitions of `logs` show the logs of a search, to the end of the transaction, to queries that name them. Terms find candidates: such queries
 * must have all conditions too. Scans of whole partitions and orders of an index are left out: the planner has too few facts about terms.
 */
export async function beginSearch(em: EntityManager, { all, any }: Search): Promise<void> {
  const groups = [all, ...Array.from({ length: mostGroups }, (_, at) => any[at] ?? all.slice(0, 1))].map(arrayOf)
  await em.execute(
    `SELECT ${groups.map(({ sql }, at) => `set_config('app.log_${settings[at]}', ${sql}, true)`).join(', ')},
            set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`,
    groups.flatMap(({ values }) => values),
  )
}

/** Makes partitions show no logs again, and plans as they were. */
export async function endSearch(em: EntityManager): Promise<void> {
  await em.execute(
    `SELECT ${settings.map((name) => `set_config('app.log_${name}', '', true)`).join(', ')};
     SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_indexscan TO DEFAULT; SET LOCAL max_parallel_workers_per_gather TO DEFAULT`,
  )
}
