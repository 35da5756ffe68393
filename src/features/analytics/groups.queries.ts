import type { EntityManager } from '@mikro-orm/postgresql'
import { arrayText } from '../../lib/text/array-text.ts'
import { measureNames, measures, type MeasureName } from './measures.ts'
import { histogramsOf, percentileOf } from './percentiles.ts'
import { latencySource, usageSource, type Fragment, type Usage } from './usage-source.ts'

/** A group with the figures that were asked for, as answers show them. */
export interface Group {
  /** The value of each column that it is made by. */
  readonly keys: readonly (string | null)[]
  readonly requests: number
  readonly figures: Readonly<Partial<Record<MeasureName, unknown>>>
}

interface GroupOptions {
  /** The columns of a usage `l`. */
  readonly by: readonly string[]
  readonly columns: readonly MeasureName[]
  readonly page_size: number
  readonly current_page: number
  readonly logsFrom: number
}

/** `key` holds the values of all columns by which rows are one group, as a JSON array; `spelt` those that are shown. */
type Row = Readonly<Record<string, unknown>> & { readonly key: string; readonly spelt: string; readonly requests: number }

const arrayOf = (values: readonly string[]): string => `jsonb_build_array(${values.map((value) => `${value}::text`).join(', ')})::text`
const named = (by: readonly string[]): readonly string[] => by.map((column) => `l.${column}`)

/** Names of models count without regard to case, as in policies and price lists. */
const folded = (column: string, value: string): string => (column === 'model' ? `lower(${value})` : value)
const valuesOf = (by: readonly string[], names = named(by)): readonly string[] => names.map((name, at) => folded(by[at] ?? '', name))
/** The value that a group shows: of several spellings that with most small letters. */
const shownOf = (column: string): string => (column === 'model' ? 'max(l.model COLLATE "C")' : `l.${column}`)

function keysOf(key: string): readonly (string | null)[] {
  const keys: (string | null)[] = JSON.parse(key)
  return keys
}

/** Counts the requests of a usage by shared values: a page of the groups, and how many there are. */
export async function findGroups(em: EntityManager, usage: Usage, grouping: GroupOptions) {
  const { by, logsFrom } = grouping
  const source = await usageSource(em, usage, logsFrom)
  const latencies = by.length === 1 ? await latencySource(em, usage, { by: by[0] ?? null, logsFrom }) : null
  return groupsOf(em, { ...source, latencies: latencies ?? source }, grouping)
}

/** The rows of a usage `l`, and where its latencies are read. */
interface Source extends Fragment {
  readonly latencies?: Fragment
}

/** Groups the rows of a usage `l`. */
export async function groupsOf(em: EntityManager, source: Source, grouping: Omit<GroupOptions, 'logsFrom'>) {
  const { by, columns, page_size: size, current_page: page } = grouping
  const figures = columns.flatMap((name) => {
    const { from } = measures[name]
    return 'sql' in from ? [`, ${from.sql} AS ${name}`] : []
  })
  const rows = await em.execute<Row[]>(
    `SELECT ${arrayOf(valuesOf(by))} AS key, ${arrayOf(by.map(shownOf))} AS spelt, sum(l.requests)::float8 AS requests, count(*) OVER ()::float8 AS groups${figures.join('')}
       FROM ${source.sql} GROUP BY ${valuesOf(by).join(', ')} ORDER BY requests DESC, key LIMIT ${size} OFFSET ${size * page}`,
    [...source.values],
  )
  const percentiles = await percentilesOf(em, source.latencies ?? source, { grouping, rows })
  const total = rows[0]?.['groups'] ?? (page === 0 ? 0 : await countGroups(em, source, by))
  return {
    groups: rows.map((row): Group => ({
      keys: keysOf(row.spelt),
      requests: row.requests,
      figures: { ...shown(row), ...percentiles(row.key) },
    })),
    total: Number(total),
  }
}

/** A page behind the last one has no row with the total of groups. */
async function countGroups(em: EntityManager, source: Fragment, by: readonly string[]): Promise<number> {
  const sql = `SELECT count(*)::float8 AS total FROM (SELECT 1 FROM ${source.sql} GROUP BY ${valuesOf(by).join(', ')}) g`
  const [all] = await em.execute<{ total: number }[]>(sql, [...source.values])
  return all?.total ?? 0
}

const shown = (row: Row) =>
  Object.fromEntries(measureNames.filter((name) => Object.hasOwn(row, name)).map((name) => [name, measures[name].show(row[name])]))

async function percentilesOf(
  em: EntityManager,
  source: Fragment,
  { grouping: { by, columns }, rows }: { readonly grouping: Omit<GroupOptions, 'logsFrom'>; readonly rows: readonly Row[] },
) {
  const wanted = columns.flatMap((name) => {
    const { from } = measures[name]
    return 'share' in from ? [{ name, share: from.share }] : []
  })
  if (wanted.length === 0 || rows.length === 0) return () => ({})
  const histograms = await histogramsOf(em, source, {
    columns: named(by),
    key: (names) => arrayOf(valuesOf(by, names)),
    ...oneOf(by, rows),
  })
  return (of: string) => Object.fromEntries(wanted.map(({ name, share }) => [name, percentileOf(histograms.of(of), share)]))
}

/** Returns the condition on a usage `l` that leaves the values of some groups. With several columns it may leave more. */
function oneOf(by: readonly string[], rows: readonly Row[]): { readonly where: string; readonly values: readonly unknown[] } {
  const keys = rows.map(({ key }) => keysOf(key))
  const conditions = by.map((column, at) => {
    const orNull = keys.some((values) => values[at] === null) ? ` OR l.${column} IS NULL` : ''
    return `(${folded(column, `l.${column}::text`)} = ANY (?::text[])${orNull})`
  })
  const values = by.map((_, at) => arrayText([...new Set(keys.flatMap((those) => those[at] ?? []))]))
  return { where: ` WHERE ${conditions.join(' AND ')}`, values }
}
