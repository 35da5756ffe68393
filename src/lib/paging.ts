import { z } from 'zod'

export interface PageQuery {
  readonly page_size: number
  readonly current_page: number
}

/** A whole number in a query string; `''`, `1e2` and `0x1` are no numbers here. */
const wholeNumber = (max: number) =>
  z.preprocess((text) => (typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text), z.int().min(0).max(max))

/** The query fields of a paged list. `page_size=0` asks for the total only; pages are counted from 0. */
export const pageFields = ({ defaultSize, maxSize }: { readonly defaultSize: number; readonly maxSize: number }) => ({
  page_size: wholeNumber(maxSize)
    .default(defaultSize)
    .meta({ description: 'Rows in one page; 0 gives only the total.', default: defaultSize }),
  current_page: wholeNumber(1_000_000).default(0).meta({ description: 'The page, counted from 0.', default: 0 }),
})

/** Other names of the same fields, which clients of some lists use: `aliases` of a route. */
export const camelCasePages = { pageSize: 'page_size', currentPage: 'current_page' } as const

/** The envelope of every list. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ object: z.literal('list'), data: z.array(item), total: z.int(), has_more: z.boolean() })

/** The rows to read for a page; both `limit` and `offset` of a query. */
export const pageWindow = ({ page_size, current_page }: PageQuery) => ({ limit: page_size, offset: page_size * current_page })

/** One page in its envelope. */
export function toList<Item>(data: Item[], total: number, query: PageQuery) {
  return { object: 'list' as const, data, total, has_more: query.page_size * query.current_page + data.length < total }
}

/** The condition on a text that holds what was searched for, in any case; undefined when nothing was. */
export const containing = (search: string | undefined) =>
  search === undefined || search === '' ? undefined : { $ilike: `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` }
