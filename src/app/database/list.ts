import type { EntityMetadata, EntityName, FilterQuery, QueryOrderMap } from '@mikro-orm/core'
import { raw, type EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { AmountType } from './amount.ts'
import { fittingIds, mostPageBytes } from './page-bytes.ts'
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
 * compares itself, so that no precision is lost on the way. Rows may be large: a page ends early where one answer would hold too much, and the next
 * goes on behind it. Pages by number cannot go on there, so that a page which would leave rows out is refused.
 */
export async function findPage<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  wanted: PageRequest<Row>,
): Promise<Page<Row>> {
  const { where, query } = wanted
  const cursor = query.after === undefined ? null : cursorOf(query, query.after)
  const found = await findIds(em, entity, { ...wanted, cursor })
  if (cursor !== null && found.length === 0) await demandRow(em, entity, cursor)
  const { tableName } = em.getMetadata().get(entity)
  const ids = await fittingIds(em, tableName, found.slice(0, query.page_size))
  if (cursor === null && query.current_page > 0) await demandWhole(em, entity, { ...wanted, read: ids.length, found: found.length })
  const last = found.length > ids.length ? ids.at(-1) : undefined
  return {
    rows: await findInOrder(em, entity, ids),
    total: cursor === null && query.include_total ? await em.count(entity, where) : undefined,
    has_more: found.length > ids.length,
    next_cursor: last === undefined ? null : writeCursor(query.sort, last),
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every entity has an id
const idAlone = ['id'] as unknown as readonly never[]

interface IdRequest<Row> extends PageRequest<Row> {
  readonly cursor: string | null
}

/** Finds the ids of the rows of a page and, when there is one, of the row behind them. */
async function findIds<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  { where, query, sorts, tie = 'id', cursor }: IdRequest<Row>,
): Promise<readonly string[]> {
  const isDescending = query.sort.startsWith('-')
  const property = sorts[query.sort.replace(/^-/, '')] ?? tie
  const direction = isDescending ? 'desc' : 'asc'
  const meta = em.getMetadata().get(entity)
  const behind = cursor === null ? [] : [behindRow(meta, { columns: [property, tie], isDescending, cursor })]
  const key = (name: string) => raw((alias) => columnOf(meta, name)(alias)).key
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-generated-empty-object-type -- properties of any entity; a test over all lists proves that they are there
  const orderBy = [{ [key(property)]: direction }, { [key(tie)]: direction }] as unknown as QueryOrderMap<Row>[]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a raw condition has no property, and every entity has an id
  const found = await em.find(entity, { $and: [where, ...behind] } as FilterQuery<Row>, {
    fields: idAlone,
    disableIdentityMap: true,
    limit: query.page_size + 1,
    ...(cursor === null && { offset: query.page_size * query.current_page }),
    orderBy,
  })
  return found.map(({ id }) => id)
}

/** Reads rows in the order of their ids; a row that was deleted meanwhile is left out. */
async function findInOrder<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  ids: readonly string[],
): Promise<Row[]> {
  if (ids.length === 0) return []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every entity has an id
  const rows = new Map((await em.find(entity, { id: { $in: ids } } as never)).map((row) => [row.id, row]))
  return ids.flatMap((id) => rows.get(id) ?? [])
}

interface NumberedPage<Row> extends PageRequest<Row> {
  /** The rows that fit into the answer. */
  readonly read: number
  readonly found: number
}

/** The first page may end early; those who count on from it would miss the rest of its rows. */
async function demandWhole<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  { read, found, ...wanted }: NumberedPage<Row>,
): Promise<void> {
  const { query } = wanted
  const isWhole = read === Math.min(found, query.page_size) && (query.current_page > 1 || (await isFirstWhole(em, entity, wanted)))
  if (isWhole) return
  throw new ApiError(
    'AB01',
    `So many rows of this list have more than ${mostPageBytes / 1024 / 1024} MiB, the most that one page has. Ask for smaller pages, or go on with after, the next_cursor of the page before.`,
    { param: 'page_size' },
  )
}

async function isFirstWhole<Row extends { readonly id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  wanted: PageRequest<Row>,
): Promise<boolean> {
  const first = await findIds(em, entity, { ...wanted, query: { ...wanted.query, current_page: 0 }, cursor: null })
  const ids = first.slice(0, wanted.query.page_size)
  return (await fittingIds(em, em.getMetadata().get(entity).tableName, ids)).length === ids.length
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
