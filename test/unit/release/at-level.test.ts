import test from 'ava'
import { z } from 'zod'
import { atLevel, releasesOf } from '../../../src/release/at-level.ts'
import { since, valuesSince } from '../../../src/release/since.ts'

const pages = z.strictObject({
  name: z.string(),
  tags: since('1.7.3', z.record(z.string(), z.string()).meta({ description: 'Names and values.' }))
    .nullable()
    .optional(),
  kind: valuesSince({ split: '1.8.0' }, z.enum(['plain', 'split'])).optional(),
  size: since('1.9.0', z.union([z.number(), z.array(z.number())]), z.number()).optional(),
  place: z.union([z.string(), since('1.10.0', z.strictObject({ line: z.number() }))]).optional(),
  get inner() {
    return z.array(pages).optional()
  },
})

const all = { name: 'a', tags: { a: 'b' }, kind: 'split', size: [1], place: { line: 1 } }
const messages = (level: string, value: unknown) =>
  atLevel(pages, level, 'request')
    .safeParse(value)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
const later = (field: string, release: string) => `${field}: comes with release ${release}, which is above the level of this installation`

test('what a later release brings is refused by its name, however deep, and taken at its release', (t) => {
  t.deepEqual(releasesOf(pages), ['1.7.3', '1.8.0', '1.9.0', '1.10.0'])
  const faults = (path: string) => [
    later(`${path}tags`, '1.7.3'),
    later(`${path}kind`, '1.8.0').replace('comes', 'split comes'),
    later(`${path}size`, '1.9.0'),
    later(`${path}place`, '1.10.0'),
  ]
  t.deepEqual(messages('1.7.2', all), faults(''))
  t.deepEqual(messages('1.7.2', { name: 'o', inner: [{ name: 'i', inner: [all] }] }), faults('inner.0.inner.0.'))
  t.deepEqual(messages('1.9.0', all), [later('place', '1.10.0')])
  t.is(messages('1.10.0', { ...all, inner: [all] }), undefined)
  t.is(messages('1.3.0', { name: 'a', kind: 'plain', size: 1, place: 'x', inner: [] }), undefined)
  t.regex(messages('1.3.0', { name: 'a', none: 1 })?.join() ?? '', /Unrecognized key: "none"/)
  t.regex(messages('1.3.0', { name: 'a', place: 1 })?.join() ?? '', /^place: Invalid input/)
})

const answer = (level: string) =>
  atLevel(pages, level, 'answer').parse({ name: 'a', tags: null, size: 1, inner: [{ name: 'b', tags: {} }] })
const described = (level: string) => JSON.stringify(z.toJSONSchema(atLevel(pages, level, 'description')))

test('what is not there yet is left out of answers, and of what describes them', (t) => {
  t.deepEqual(answer('1.7.2'), { name: 'a', size: 1, inner: [{ name: 'b' }] })
  t.deepEqual(answer('1.7.3'), { name: 'a', tags: null, size: 1, inner: [{ name: 'b', tags: {} }] })
  const open = z.looseObject({ tags: since('1.7.3', z.string()) })
  t.is(JSON.stringify(atLevel(open, '1.7.2', 'answer').parse({ tags: 'a', other: 1 })), '{"other":1}')
  for (const [release, word] of [
    ['1.7.3', 'Names and values.'],
    ['1.8.0', '"split"'],
    ['1.9.0', '{"anyOf":[{"type":"number"},{"type":"array"'],
    ['1.10.0', '"line"'],
  ] as const) {
    t.false(described('1.7.2').includes(word), word)
    t.true(described(release).includes(word), word)
  }
})

test('a schema is made once for all levels that are alike, and is itself where nothing is missing', (t) => {
  t.is(atLevel(pages, '1.10.0', 'request'), pages)
  t.is(atLevel(pages, '1.12.0', 'answer'), pages)
  t.is(atLevel(pages, '1.3.0', 'request'), atLevel(pages, '1.7.2', 'request'))
  t.not(atLevel(pages, '1.7.2', 'request'), atLevel(pages, '1.7.3', 'request'))
})

test('a mark that could not be kept is refused', (t) => {
  t.throws(() => since('1.7', z.string()), { message: /is no release/ })
  t.throws(() => atLevel(z.array(since('1.7.3', z.string())), '1.7.2', 'answer'), { message: /mark the whole of it/ })
  t.throws(() => atLevel(since('1.7.3', z.string()), '1.7.2', 'answer'), { message: /mark the route/ })
})
