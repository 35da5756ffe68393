import test from 'ava'
import fc from 'fast-check'
import { createUsualOutput } from '../../../../src/gateway/limits/usual-output.ts'

const by = { organisationId: 'o', keyId: 'k', model: 'm' }
const days = (count: number): number => count * 24 * 3_600_000

test('who never spoke is expected to say 1,024 tokens, and so is who says little', (t) => {
  const usual = createUsualOutput(() => 0)
  t.is(usual.of(by), 1024)
  for (let at = 0; at < 50; at += 1) usual.note(by, 12)
  t.is(usual.of(by), 1024)
})

test('at least 99 of 100 answers stay within what is usual, which is at most a fifth above the answer that needs it', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900_000 }), { minLength: 1, maxLength: 400 }), (lengths) => {
      const usual = createUsualOutput(() => 0)
      for (const tokens of lengths) usual.note(by, tokens)
      const most = usual.of(by)
      const within = lengths.filter((tokens) => tokens <= most).length
      t.true(within >= lengths.length * 0.99, `${within} of ${lengths.length} within ${most}`)
      const needed = lengths.toSorted((one, other) => one - other)[Math.ceil(lengths.length * 0.99) - 1] ?? 0
      t.true(most <= Math.max(1024, Math.ceil(needed * 2 ** 0.25) + 1), `${most} for ${needed}`)
    }),
  )
})

test('keys and models are apart, and what is older than seven days is forgotten', (t) => {
  let now = 0
  const usual = createUsualOutput(() => now)
  usual.note(by, 100_000)
  t.true(usual.of(by) >= 100_000)
  t.is(usual.of({ ...by, model: 'other' }), 1024)
  t.is(usual.of({ ...by, keyId: 'other' }), 1024)
  now = days(4)
  usual.note(by, 10)
  t.true(usual.of(by) >= 100_000, 'within seven days')
  now = days(8)
  usual.note(by, 10)
  t.is(usual.of(by), 1024)
})

test('an organisation with many models does not make the answers of others unknown', (t) => {
  const usual = createUsualOutput(() => 0)
  usual.note(by, 100_000)
  for (let at = 0; at < 10_001; at += 1) usual.note({ organisationId: 'many', keyId: 'k', model: `m${at}` }, 10)
  t.true(usual.of(by) >= 100_000)
})
