import { z } from 'zod'
import { textField } from './text/text.ts'

/** The most rows that one page of any list has. */
export const maxPageSize = 1000

/** A whole number in a query string; `''`, `1e2` and `0x1` are no numbers here. */
const wholeNumber = (max: number) =>
  z.preprocess((text) => (typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text), z.int().min(0).max(max))

/** The orders of a list: the name of the field in the API, and the property of the entity. */
export type Sorts = Readonly<Record<string, string>>

/** The order of most lists. */
export const usualSorts = { created_at: 'createdAt', last_updated_at: 'lastUpdatedAt', name: 'name' } as const satisfies Sorts

interface ListOptions {
  readonly sorts: Sorts
  /** The order when none is asked for; `-` before the field: from the last to the first. */
  readonly sort: string
  readonly defaultSize?: number
}

/** The query fields of every list. `page_size=0` asks for the total only; pages are counted from 0. */
export function listFields({ sorts, sort, defaultSize = 50 }: ListOptions) {
  const orders = Object.keys(sorts).flatMap((field) => [field, `-${field}`])
  return {
    page_size: wholeNumber(maxPageSize)
      .default(defaultSize)
      .meta({ description: 'Rows in one page; 0 gives only the total.', default: defaultSize }),
    current_page: wholeNumber(1_000_000)
      .default(0)
      .meta({ description: 'The page, counted from 0; of no account with `after`.', default: 0 }),
    after: z.string().max(500).optional().meta({
      description:
        'The `next_cursor` of the page before, with the same `sort`. Faster for long lists than `current_page`; no total is counted.',
    }),
    include_total: z.stringbool().default(true).meta({ description: 'Whether all rows are counted for `total`.' }),
    sort: z.enum(orders).default(sort).meta({ description: 'The order; `-` before the field turns it round.' }),
  }
}

/** The query field by which a list is searched; `within` names the searched fields. */
export const searchField = (within: string) =>
  textField(255)
    .optional()
    .meta({ description: `Part of ${within}, in any case.` })

export interface ListQuery {
  readonly page_size: number
  readonly current_page: number
  readonly after?: string | undefined
  readonly include_total: boolean
  readonly sort: string
}

/** Other names of the same fields, which clients of some lists use: `aliases` of a route. */
export const camelCasePages = { pageSize: 'page_size', currentPage: 'current_page' } as const

/** The fields about its page in every answered list. */
export const pageView = {
  object: z.literal('list'),
  total: z.int().optional().meta({ description: 'All rows; absent with `after` or `include_total=false`.' }),
  has_more: z.boolean(),
  next_cursor: z.string().nullable().meta({ description: 'Give it as `after` to get the next page; null on the last one.' }),
}

/** The envelope of every list. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ ...pageView, data: z.array(item) })

/** The facts about a page besides its rows. */
export interface PageEnd {
  readonly total: number | undefined
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Returns one page in its envelope. */
export const toList = <Item>(data: Item[], { total, has_more, next_cursor }: PageEnd) => ({
  object: 'list' as const,
  data,
  ...(total !== undefined && { total }),
  has_more,
  next_cursor,
})

/** Returns a page of rows that are all in memory, by a key of theirs that is unique and in their order. */
export function pageOf<Row>(rows: readonly Row[], query: ListQuery, keyOf: (row: Row) => string): PageEnd & { readonly rows: Row[] } {
  const wanted = query.sort.startsWith('-') ? rows.toReversed() : rows
  const cursor = query.after === undefined ? null : wanted.findIndex((row) => writeCursor(query.sort, keyOf(row)) === query.after)
  const from = cursor === null ? query.page_size * query.current_page : cursor === -1 ? wanted.length : cursor + 1
  const page = wanted.slice(from, from + query.page_size)
  const hasMore = from + page.length < wanted.length
  const last = page.at(-1)
  return {
    rows: page,
    total: cursor === null && query.include_total ? rows.length : undefined,
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? writeCursor(query.sort, keyOf(last)) : null,
  }
}

/** Returns the opaque text for where a page of this order ended. */
export const writeCursor = (sort: string, id: string): string => Buffer.from(`${sort} ${id}`).toString('base64url')

/** Returns the id in a cursor of this order; null when it is none. */
export function readCursor(sort: string, text: string): string | null {
  const found = Buffer.from(text, 'base64url').toString()
  return found.startsWith(`${sort} `) ? found.slice(sort.length + 1) : null
}

/** The condition that a text contains the search term, in any case; undefined without a search term. */
export const containing = (search: string | undefined) =>
  search === undefined || search === '' ? undefined : { $ilike: `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` }

/** The condition that one of these properties contains the search term; none without a search term. */
export function searching(search: string | undefined, ...properties: readonly string[]) {
  const held = containing(search)
  return held === undefined ? {} : { $or: properties.map((property) => ({ [property]: held })) }
}
