import test from 'ava'
import { taggedWith, tagsField, tagsFilter } from '../../../../src/lib/text/tags.ts'

const read = (text: string): unknown => tagsFilter.safeParse(text).data ?? 'refused'

test('a filter is pairs or a JSON object', (t) => {
  t.deepEqual(read('env:prod'), { env: 'prod' })
  t.deepEqual(read(' env : prod , url:http://x '), { env: 'prod', url: 'http://x' })
  t.deepEqual(read('env:'), { env: '' })
  t.deepEqual(read('{"a b":"c,d"}'), { 'a b': 'c,d' })
  for (const wrong of ['', 'env', ':x', 'a:b,', '{', '{"a":1}', '[]', '{"a":{}}']) t.is(read(wrong), 'refused', wrong)
})

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, 'v']))

test('tags are few and short', (t) => {
  t.true(tagsField.safeParse(many(50)).success)
  for (const wrong of [many(51), { '': 'x' }, { a: 'x'.repeat(257) }, { ['a'.repeat(129)]: 'x' }, { a: '\0' }, { a: null }, ['a']])
    t.false(tagsField.safeParse(wrong).success, JSON.stringify(wrong).slice(0, 60))
})

test('no filter is no condition', (t) => {
  t.deepEqual(taggedWith(undefined), {})
  t.deepEqual(taggedWith({ a: 'b' }), { tags: { $contains: { a: 'b' } } })
})

test('a filter of spaces is refused at once', (t) => {
  const from = process.cpuUsage()
  for (const text of [' '.repeat(2000), `${' '.repeat(2000)}x`, `${' '.repeat(1000)}:x`]) t.false(tagsFilter.safeParse(text).success)
  t.deepEqual(tagsFilter.parse(` a ${' '.repeat(2000)}: b:c `), { a: 'b:c' })
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 500_000, `${(user + system) / 1000} ms`)
})
