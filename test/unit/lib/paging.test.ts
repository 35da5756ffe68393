import test from 'ava'
import { z } from 'zod'
import { listFields, pageOf } from '../../../src/lib/paging.ts'

const query = z.object(listFields({ sorts: { name: 'name' }, sort: 'name' }))

const accepts = test.macro({
  exec: (t, given: Record<string, unknown>, expected: object) =>
    t.deepEqual(query.parse(given), { page_size: 50, current_page: 0, include_total: true, sort: 'name', ...expected }),
  title: (_, given) => `accepts ${JSON.stringify(given)}`,
})
const refuses = test.macro({
  exec: (t, given: Record<string, unknown>) => t.false(query.safeParse(given).success),
  title: (_, given) => `refuses ${JSON.stringify(given)}`,
})

test(accepts, {}, {})
test(accepts, { page_size: '0' }, { page_size: 0 })
test(accepts, { sort: '-name', after: 'x', include_total: 'false' }, { sort: '-name', after: 'x', include_total: false })
test(accepts, { page_size: '1000', current_page: '7' }, { page_size: 1000, current_page: 7 })
for (const text of ['1001', '-1', '', ' ', '1.5', '1e1', '0x10', 'ten', '99999999999999999999']) test(refuses, { page_size: text })
for (const text of ['-1', '1000001', 'NaN']) test(refuses, { current_page: text })

test(refuses, { sort: 'slug' })

const rows = ['a', 'b', 'c', 'd', 'e']
const page = (given: Record<string, unknown>) => pageOf(rows, query.parse(given), (row) => row)

test('a page of rows in memory says what follows', (t) => {
  t.like(page({ page_size: '2' }), { rows: ['a', 'b'], total: 5, has_more: true })
  t.like(page({ page_size: '2', current_page: '2' }), { rows: ['e'], total: 5, has_more: false, next_cursor: null })
  t.like(page({ page_size: '2', current_page: '9' }), { rows: [], total: 5, has_more: false })
  t.like(page({ page_size: '0' }), { rows: [], total: 5, has_more: true })
  t.like(page({ page_size: '2', include_total: 'false' }), { total: undefined })
})

test('cursors lead through rows in memory, in either order', (t) => {
  for (const sort of ['name', '-name']) {
    const seen: string[] = []
    for (let after: string | null | undefined; after !== null;) {
      const one = page({ page_size: '2', sort, ...(after !== undefined && { after }) })
      seen.push(...one.rows)
      after = one.next_cursor
    }
    t.deepEqual(seen, sort === 'name' ? rows : rows.toReversed())
  }
})
