import test from 'ava'
import { freeSlug, nameField, slugField, toSlug } from '../../../../src/lib/text/slug.ts'

const makes = test.macro({
  exec: (t, name: string, slug: string) => t.is(toSlug(name, 'fallback'), slug),
  title: (_, name) => `slug of ${JSON.stringify(name)}`,
})

test(makes, 'OpenAI Production', 'openai-production')
test(makes, '  My Ünïque -- key! ', 'my-unique-key')
test(makes, 'snake_case', 'snake_case')
test(makes, '日本語', 'fallback')
test(makes, '!!!', 'fallback')
test(makes, 'x'.repeat(300), 'x'.repeat(255))

test('a taken slug gets a suffix, and stays within the length', async (t) => {
  const taken = new Set(['openai', 'x'.repeat(255)])
  const isTaken = (slug: string) => Promise.resolve(taken.has(slug))
  t.is(await freeSlug('free', isTaken), 'free')
  t.regex(await freeSlug('openai', isTaken), /^openai-[a-z0-9]{6}$/)
  t.is((await freeSlug('x'.repeat(255), isTaken)).length, 255)
})

const field = test.macro({
  exec: (t, kind: 'slug' | 'name', text: string, valid: boolean) =>
    t.is((kind === 'slug' ? slugField : nameField).safeParse(text).success, valid),
  title: (_, ...given) => JSON.stringify(given),
})

test(field, 'slug', 'a', true)
test(field, 'slug', 'A-b_9', true)
test(field, 'slug', 'x'.repeat(255), true)
test(field, 'slug', 'x'.repeat(256), false)
test(field, 'slug', '', false)
test(field, 'slug', 'a b', false)
test(field, 'slug', 'ä', false)
test(field, 'slug', 'a/b', false)
test(field, 'slug', 'a\n', false)
test(field, 'slug', '0198c5a0-0000-7000-8000-000000000000', false)
test(field, 'name', 'Ünï 日本', true)
test(field, 'name', '   ', false)
test(field, 'name', 'a\u0000b', false)
test(field, 'name', 'a\nb', false)
test(field, 'name', '\ud800', false)
test(field, 'name', 'x'.repeat(256), false)
