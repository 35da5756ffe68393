import test from 'ava'
import fc from 'fast-check'
import { canonicalHash, canonicalJson } from '../../../../src/lib/json/canonical-json.ts'
import { repeatedKey, saysMore } from '../../../../src/lib/json/repeated-key.ts'

test('two values have one hash if they say the same, in whatever order their keys stand', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      t.is(canonicalHash(one), canonicalHash(turned(one)))
      t.is(canonicalHash(one) === canonicalHash(other), canonicalJson(one) === canonicalJson(other))
    }),
  )
  t.is(canonicalHash({ b: 1, a: [{ d: 2, c: 'é' }] }), 'W5Fmd_kpVsdPfSiqBDH87_VfW89wU_dKjwPB9ivQdMs')
})

/** The same with the keys of every object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, child]): [string, unknown] => [name, turned(child)])
      .toReversed(),
  )
}

const more = (text: string): boolean => saysMore(Buffer.from(text), JSON.parse(text))

test('a text says more than its value when a key comes twice or a number may be rounded', (t) => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"b":[{"a":1,"\\u0061":2}]}',
    '[1e5]',
    '{"n":1E3}',
    '{"seed":1234567890123456}',
    '[0.12345678901234567]',
  ])
    t.true(more(text), text)
  for (const text of [
    '{"a":1,"b":{"a":1}}',
    '{"a:b":"{\\"a\\":1,\\"a\\":2}"}',
    '["1234567890123456789","1e5","\\\\"]',
    '[true,false,null,123456789012345,0.5,-1.25]',
    '{}',
    '"a\\""',
  ])
    t.false(more(text), text)
})

test('what has no key twice and no long number says no more, whatever it holds', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      if (!/\d[eE]|[\d.]{16}/.test(text)) t.is(more(text), repeatedKey(text, JSON.parse(text)) !== null)
    }),
  )
})
