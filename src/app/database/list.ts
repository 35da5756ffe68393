import type { EntityMetadata, EntityName, FilterQuery, QueryOrderMap } from '@mikro-orm/core'
import { raw, type EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { AmountType } from './amount.ts'
import { readCursor, writeCursor, type ListQuery, type PageEnd, type Sorts } from '../../lib/paging.ts'

interface PageRequest<Row> {
  readonly where: FilterQuery<Row>
  readonly query: ListQuery
  readonly sorts: Sorts
  /** Orders rows that are equal in the sorted property; the id unless given. */
  readonly tie?: string
}

/** One page of rows. */
export interface Page<Row> extends PageEnd {
  readonly rows: Row[]
}

/**
 * Reads one page of a list: by number, or behind the row where the page before ended. A cursor names that row, whose values the database
 * compares itself, so that no precision is lost on the way.
 */
export async function findPage<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  wanted: PageRequest<Row>,
): Promise<Page<Row>> {
  const { where, query } = wanted
  const cursor = query.after === undefined ? null : cursorOf(query, query.after)
  const found = await findRows(em, entity, { ...wanted, cursor })
  if (cursor !== null && found.length === 0) await demandRow(em, entity, cursor)
  const rows = found.slice(0, query.page_size)
  const last = found.length > rows.length ? rows.at(-1) : undefined
  return {
    rows,
    total: cursor === null && query.include_total ? await em.count(entity, where) : undefined,
    has_more: found.length > rows.length,
    next_cursor: last === undefined ? null : writeCursor(query.sort, last.id),
  }
}

/** Reads the rows of a page and, when there is one, the row behind them. */
function findRows<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  { where, query, sorts, tie = 'id', cursor }: PageRequest<Row> & { readonly cursor: string | null },
): Promise<Row[]> {
  const isDescending = query.sort.startsWith('-')
  const property = sorts[query.sort.replace(/^-/, '')] ?? tie
  const direction = isDescending ? 'desc' : 'asc'
  const meta = em.getMetadata().get(entity)
  const behind = cursor === null ? [] : [behindRow(meta, { columns: [property, tie], isDescending, cursor })]
  const key = (name: string) => raw((alias) => columnOf(meta, name)(alias)).key
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-generated-empty-object-type -- properties of any entity; a test over all lists proves that they are there
  const orderBy = [{ [key(property)]: direction }, { [key(tie)]: direction }] as unknown as QueryOrderMap<Row>[]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a raw condition has no property
  return em.find(entity, { $and: [where, ...behind] } as FilterQuery<Row>, {
    limit: query.page_size + 1,
    ...(cursor === null && { offset: query.page_size * query.current_page }),
    orderBy,
  })
}

const param = 'after'

function cursorOf({ sort }: ListQuery, after: string): string {
  const id = readCursor(sort, after)
  if (id !== null && isUuid(id)) return id
  throw new ApiError('AB01', 'after is no next_cursor of an earlier page in this order. Begin again without it.', { param })
}

interface PageStart {
  readonly columns: readonly string[]
  readonly isDescending: boolean
  readonly cursor: string
}

function behindRow(meta: EntityMetadata, { columns, isDescending, cursor }: PageStart) {
  const read = [...new Set(columns)].map((property) => columnOf(meta, property))
  const all = (alias: string) => read.map((column) => column(alias)).join(', ')
  const condition = raw(
    (alias) => `(${all(alias)}) ${isDescending ? '<' : '>'} (SELECT ${all('last')} FROM "${meta.tableName}" last WHERE last.id = ?)`,
    [cursor],
  )
  return { [condition.key]: [] }
}

/** Returns how SQL reads a property: its column, or an expression of it for the type of an amount. */
function columnOf({ props, tableName }: EntityMetadata, property: string): (alias: string) => string {
  const found = props.find(({ name }) => name === property)
  if (found === undefined) throw new RangeError(`${tableName} has no ${property}`)
  const { customType, fieldNames } = found
  return (alias) => {
    const column = `${alias}."${fieldNames[0]}"`
    return customType instanceof AmountType ? customType.convertToJSValueSQL(column) : column
  }
}

/** The end of a list has no next page; neither does a row that is gone, but there the caller has seen only a part. */
async function demandRow<Row extends object>(em: EntityManager, entity: EntityName<Row>, id: string): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every entity has an id
  if ((await em.count(entity, { id } as never)) > 0) return
  throw new ApiError('AB01', 'The row where the page before ended is gone. Begin again without after.', { param })
}
