import test from 'ava'
import fc from 'fast-check'
import { Loss } from '../../../../src/gateway/dialects/neutral/loss.ts'
import { applyQuirks, bend, quirksTouch } from '../../../../src/gateway/providers/quirks.ts'
import type { Quirks } from '../../../../src/gateway/providers/provider.ts'

const bends = test.macro({
  exec(t, quirks: Quirks, body: Record<string, unknown>, expected: Record<string, unknown>) {
    const input = structuredClone(body)
    const result = applyQuirks(input, quirks)
    t.deepEqual(result, expected)
    t.deepEqual(input, body, 'the input is untouched')
    t.not(result, input)
    t.is(quirksTouch(body, quirks), JSON.stringify(body) !== JSON.stringify(expected))
  },
  title: (name = '') => `quirks: ${name}`,
})

test('none', bends, {}, { a: 1 }, { a: 1 })
test('renames', bends, { rename: { seed: 'random_seed' } }, { seed: 1, n: 2 }, { random_seed: 1, n: 2 })
test('a name the provider knows wins over a renamed one', bends, { rename: { b: 'a' } }, { a: 1, b: 2 }, { a: 1 })
test('and so it does in the other order', bends, { rename: { b: 'a' } }, { b: 2, a: 1 }, { a: 1 })
test('drops', bends, { drop: ['logprobs'] }, { logprobs: true, n: 2 }, { n: 2 })
test('clamps from above', bends, { clamp: { temperature: [0, 1] } }, { temperature: 2 }, { temperature: 1 })
test('clamps from below', bends, { clamp: { temperature: [0, 1] } }, { temperature: -1 }, { temperature: 0 })
test('leaves what is within', bends, { clamp: { temperature: [0, 1] } }, { temperature: 0.5 }, { temperature: 0.5 })
test('leaves what is no number', bends, { clamp: { temperature: [0, 1] } }, { temperature: null, x: '2' }, { temperature: null, x: '2' })
test('clamps under the new name', bends, { rename: { t: 'temperature' }, clamp: { temperature: [0, 1] } }, { t: 2 }, { temperature: 1 })
test(
  'fields named like what objects inherit',
  bends,
  { rename: { a: 'b' }, clamp: { c: [0, 1] } },
  { constructor: 5, toString: 6 },
  { constructor: 5, toString: 6 },
)

test('a field called __proto__ stays a field', (t) => {
  const result = applyQuirks(JSON.parse('{"__proto__":{"polluted":true},"a":1}') as Record<string, unknown>, { rename: { a: 'b' } })
  t.is(JSON.stringify(result), '{"__proto__":{"polluted":true},"b":1}')
  t.is(Reflect.get({}, 'polluted'), undefined)
})

test('what is not touched stays as it is, in its order', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
      const quirks = { rename: { seed: 'random_seed' }, drop: ['logprobs'], clamp: { temperature: [0, 1] } } as const
      return quirksTouch(body, quirks) || JSON.stringify(applyQuirks(body, quirks)) === JSON.stringify(body)
    }),
  )
  t.pass()
})

const quirks: Quirks = {
  rename: { heat: 'temperature', seed: 'random_seed' },
  drop: ['n', 'logprobs', 'top_logprobs', 'store', 'stream_options', 'logit_bias'],
  clamp: { temperature: [0, 1] },
}

const tells = test.macro({
  exec(t, body: Record<string, unknown>, told: readonly string[], refused: string | null = null) {
    const loss = new Loss({ names: {}, provider: 'p', strict: false })
    const telling = { loss, nameOf: (name: string) => `its.${name}` }
    if (refused === null) t.deepEqual(bend(body, quirks, telling), applyQuirks(body, quirks))
    else
      t.like(
        t.throws(() => bend(body, quirks, telling)),
        { code: 'invalid_request', param: refused },
      )
    t.deepEqual(loss.dropped, told)
  },
  title: (_, body) => `of ${JSON.stringify(body)} is told what is lost`,
})

test(tells, { logit_bias: { 5: 1 }, a: 1 }, ['its.logit_bias'])
test(tells, { temperature: 1.5, top_logprobs: 3 }, ['its.temperature', 'its.top_logprobs'])
test(tells, { heat: 2 }, ['its.heat'])
test(tells, { heat: 1, seed: 7, temperature: 0 }, [])
test(tells, { n: 1, logprobs: false, store: false, stream_options: { include_usage: true }, logit_bias: null }, [])
test(tells, { n: 2 }, [], 'its.n')
test(tells, { logprobs: true }, [], 'its.logprobs')

test('a body that the provider takes stays the same one', (t) => {
  const telling = { loss: new Loss({ names: {}, provider: 'p', strict: true }), nameOf: (name: string) => name }
  const body = { temperature: 1, a: 2 }
  t.is(bend(body, quirks, telling), body)
  t.is(bend({ ...body, n: 2 }, undefined, telling)['n'], 2)
})
