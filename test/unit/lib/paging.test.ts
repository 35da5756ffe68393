import test from 'ava'
import { z } from 'zod'
import { pageFields, pageWindow, toList } from '../../../src/lib/paging.ts'

const query = z.object(pageFields({ defaultSize: 50, maxSize: 100 }))

const accepts = test.macro({
  exec: (t, given: Record<string, unknown>, expected: object) =>
    t.deepEqual(query.parse(given), { page_size: 50, current_page: 0, ...expected }),
  title: (_, given) => `accepts ${JSON.stringify(given)}`,
})
const refuses = test.macro({
  exec: (t, given: Record<string, unknown>) => t.false(query.safeParse(given).success),
  title: (_, given) => `refuses ${JSON.stringify(given)}`,
})

test(accepts, {}, {})
test(accepts, { page_size: '0' }, { page_size: 0 })
test(accepts, { page_size: '100', current_page: '7' }, { page_size: 100, current_page: 7 })
for (const text of ['101', '-1', '', ' ', '1.5', '1e1', '0x10', 'ten', '99999999999999999999']) test(refuses, { page_size: text })
for (const text of ['-1', '1000001', 'NaN']) test(refuses, { current_page: text })

const envelope = test.macro({
  exec(t, page: { page_size: number; current_page: number }, rows: number, more: boolean) {
    const data = Array.from({ length: rows }, (_, at) => at)
    t.deepEqual(toList(data, 5, page), { object: 'list', data, total: 5, has_more: more })
  },
  title: (name = '') => `has_more: ${name}`,
})

test('a full first page', envelope, { page_size: 2, current_page: 0 }, 2, true)
test('the last page', envelope, { page_size: 2, current_page: 2 }, 1, false)
test('beyond the last page', envelope, { page_size: 2, current_page: 9 }, 0, false)
test('the total only', envelope, { page_size: 0, current_page: 0 }, 0, true)

test('a page is a window on the rows', (t) => t.deepEqual(pageWindow({ page_size: 20, current_page: 3 }), { limit: 20, offset: 60 }))
