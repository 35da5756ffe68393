import type { EntityManager } from '@mikro-orm/postgresql'
import { filterSql, type Source, type Sql } from '../filter/filter-sql.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { Filter } from '../filter/filter.ts'
import type { Window } from '../list-query.ts'
import { scimError } from '../scim-error.ts'
import { locate } from '../schema/locate.ts'

/** A list of one kind of resource. */
interface ListSource<Row> {
  /** Runs the statement that reads the page. */
  readonly read: (sql: string, values: readonly unknown[]) => Promise<Row[]>
  readonly source: Source
  readonly tables: string
  readonly columns: string
  readonly alias: string
  /** The condition on the rows that there are. */
  readonly base: Sql
  /** A faster way to the rows that may have a value; the filter is looked at all the same. */
  readonly shortcut: (path: string, value: string) => Sql | null
  readonly filter: string | undefined
  readonly sortBy: string | undefined
  readonly window: Window
}

/** Reads one page of a list and counts the whole. Throws `invalidFilter`, `invalidPath`. */
export async function readList<Row>(em: EntityManager, listed: ListSource<Row>): Promise<{ readonly rows: Row[]; readonly total: number }> {
  const { tables, columns, window, base } = listed
  const filter = listed.filter === undefined || listed.filter.trim() === '' ? null : parseFilter(listed.filter)
  const conditions = [base, ...(filter === null ? [] : [...shortcutsOf(filter, listed), filterSql(filter, listed.source)])]
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  const values = conditions.flatMap((condition) => condition.values)
  const [counted] = await em.execute<{ total: string }[]>(`SELECT count(*) AS total FROM ${tables} WHERE ${where}`, values)
  const total = Number(counted?.total ?? 0)
  if (window.count === 0 || window.startIndex > total) return { rows: [], total }
  const rows = await listed.read(
    `SELECT ${columns} FROM ${tables} WHERE ${where} ORDER BY ${orderOf(listed)} LIMIT ${window.count} OFFSET ${window.startIndex - 1}`,
    values,
  )
  return { rows, total }
}

/** If several conditions must all hold, each `eq` may lead straight to the rows. */
function shortcutsOf(filter: Filter, listed: Pick<ListSource<unknown>, 'source' | 'shortcut'>): readonly Sql[] {
  if (filter.op === 'and') return [...shortcutsOf(filter.left, listed), ...shortcutsOf(filter.right, listed)]
  if (filter.op !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return []
  const found = locate(listed.source.type, filter.path)
  if (found === null || found.part !== null || found.extension !== null) return []
  const shortcut = listed.shortcut(found.attribute.name, filter.value)
  return shortcut === null ? [] : [shortcut]
}

function orderOf({ source, sortBy, window, alias }: Omit<ListSource<unknown>, 'read'>): string {
  const [direction, tie] = [window.descending ? 'DESC' : 'ASC', `${alias}.created_at, ${alias}.id`]
  if (sortBy === undefined || sortBy === '') return tie
  const found = locate(source.type, sortBy)
  const expression = found === null || found.attribute.multiValued ? null : sortKey(source, found)
  if (expression === null) {
    if (source.strict) throw scimError('invalidPath', `A list cannot be sorted by \`${sortBy.slice(0, 100)}\`.`, 'sortBy')
    return tie
  }
  return `${expression} ${direction} NULLS ${window.descending ? 'FIRST' : 'LAST'}, ${tie}`
}

function sortKey(source: Source, { extension, attribute, part }: NonNullable<ReturnType<typeof locate>>): string | null {
  const steps = [extension?.id ?? [], attribute.name, part?.name ?? []].flat()
  const column = source.columns[steps.join('.').toLowerCase()]
  if (column !== undefined) return (part ?? attribute).type === 'string' ? `lower(${column})` : column
  if (source.document === null || (part ?? attribute).type === 'complex') return null
  const [end = '', ...before] = steps.toReversed()
  return `lower(${source.document}${before
    .toReversed()
    .map((step) => `->'${step}'`)
    .join('')}->>'${end}')`
}
