import type { EntityManager } from '@mikro-orm/postgresql'
import type { Fragment } from './usage-source.ts'

/** How many requests took how long: the numbers of `latency_bucket()` in the database, each with its count. */
export type Histogram = readonly (readonly [bucket: number, count: number])[]

const bucketsPerDoubling = 20
const offset = 140

/** The milliseconds in the middle of a bucket: at most 1.8 % from all that it holds. */
const middleOf = (bucket: number): number => 2 ** ((bucket - offset + 0.5) / bucketsPerDoubling)

/** Returns the milliseconds that a share of the requests took at most; null without requests. Buckets come in their order. */
export function percentileOf(histogram: Histogram, share: number): number | null {
  const all = histogram.reduce((sum, [, count]) => sum + count, 0)
  let passed = 0
  for (const [bucket, count] of histogram) {
    passed += count
    if (passed >= all * share) return middleOf(bucket)
  }
  return null
}

interface Row {
  readonly key: string | null
  readonly bucket: number
  readonly count: number
}

/** The columns that distinguish histograms. */
interface HistogramKey {
  /** Expressions over the usage `l`: cheap ones, since each cell of a histogram has them. */
  readonly columns: readonly string[]
  /** Returns SQL of the key, from the names of the columns. */
  readonly key: (names: readonly string[]) => string
  readonly where?: string
  readonly values?: readonly unknown[]
}

/** Returns the histogram of each value of a key, and that of all together. */
export async function histogramsOf(
  em: EntityManager,
  source: Fragment,
  { columns, key, where = '', values = [] }: HistogramKey,
): Promise<{ readonly all: Histogram; of(key: string | null): Histogram }> {
  const names = columns.map((_, at) => `k${at}`)
  const fields = columns.map((column, at) => `${column} AS k${at}`)
  const rows = await em.execute<Row[]>(
    `SELECT (${key(names)})::text AS key, bucket::float8, count::float8
       FROM (SELECT ${names.join(', ')}, cell >> 32 AS bucket, sum(cell & 4294967295) AS count
               FROM (SELECT ${fields.join(', ')}, unnest(l.latency) AS cell FROM ${source.sql}${where}) cells
              GROUP BY ${names.join(', ')}, bucket) c ORDER BY 2`,
    [...source.values, ...values],
  )
  const groups = Map.groupBy(rows, (row) => row.key)
  const all = [...Map.groupBy(rows, ({ bucket }) => bucket)].map(
    ([bucket, those]) => [bucket, those.reduce((sum, { count }) => sum + count, 0)] as const,
  )
  return { all, of: (value) => (groups.get(value) ?? []).map(({ bucket, count }) => [bucket, count] as const) }
}
