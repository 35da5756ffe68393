import test from 'ava'
import fc from 'fast-check'
import { cases, type Fixture, isSaid } from './cases.ts'
import { expectedOf, takesTools } from './expected.ts'
import { listen } from './listen.ts'
import { converse, type Product, startProduct } from './product.ts'
import { pairs, sideFor } from './sides/index.ts'
import type { Say } from './talk.ts'

/** Random conversations through every pair mean the same at both ends, and their second turn too. With NIGHTLY=1 many more of them. */
const numRuns = process.env['NIGHTLY'] === '1' ? 100 : 3
let product: Product

test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())

const said = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((text) => `a${text.replaceAll(/\s+/g, ' ')}z`)
const name = fc.stringMatching(/^[a-z][a-z0-9_]{2,20}$/)
const value = fc.oneof(
  said,
  fc.integer(),
  fc.boolean(),
  fc.array(said, { maxLength: 2 }),
  fc.dictionary(name, said, { maxKeys: 2, noNullPrototype: true }),
)
const args = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true })
const parameters = { type: 'object', properties: {}, required: [], additionalProperties: true }
const counts = fc.record({
  input: fc.integer({ min: 10, max: 9000 }),
  cached: fc.integer({ min: 0, max: 9 }),
  output: fc.integer({ min: 1, max: 9000 }),
})
const total = counts.map((some) => ({ ...some, thought: 0 }))

const fixture: fc.Arbitrary<Fixture> = fc
  .record({
    stream: fc.boolean(),
    system: fc.option(said, { nil: undefined }),
    before: fc.array(fc.tuple(said, said), { maxLength: 2 }),
    asked: fc.array(said, { minLength: 1, maxLength: 3 }),
    calls: fc.uniqueArray(fc.record({ name, args }), { selector: (call) => call.name, minLength: 1, maxLength: 3 }),
    results: fc.array(said, { minLength: 3, maxLength: 3 }),
    answer: said,
    counts: fc.tuple(total, total),
    maxTokens: fc.integer({ min: 16, max: 4000 }),
  })
  .map(({ stream, system, before, asked, calls, results, answer, counts: [first, second], maxTokens }) => ({
    title: 'random',
    stream,
    ask: {
      ...(system !== undefined && { system }),
      maxTokens,
      tools: calls.map((call) => ({ name: call.name, parameters })),
      turns: [
        ...before.flatMap(([user, assistant]) => [
          { role: 'user' as const, pieces: [{ text: user }] },
          { role: 'assistant' as const, pieces: [{ text: assistant }] },
        ]),
        { role: 'user' as const, pieces: asked.map((text) => ({ text })) },
      ],
    },
    says: [
      { calls: calls.map((call, index) => ({ id: `call_${index}`, ...call })), stop: 'tool-calls', counts: first },
      { text: answer, stop: 'stop', counts: second },
    ] satisfies readonly Say[],
    results: Object.fromEntries(calls.map((call, index) => [call.name, results[index] ?? ''])),
  }))

const [round] = cases['parallel tools']

// A provider without tools has no second turn of this kind, nor has a client without them.
for (const [client, provider] of pairs.filter(([one, id]) => takesTools(id) && round !== undefined && isSaid(round, one)))
  test.serial(`${client} at ${provider}`, async (t) => {
    const cell = { client, provider, name: 'parallel tools' } as const
    await fc.assert(
      fc.asyncProperty(fixture, async (one) => {
        product.emulator.reset()
        const expected = expectedOf(cell, one)
        const heard = listen(product.emulator, sideFor(client, provider), one.says)
        const talks = await converse(product.bed, one, cell)
        t.deepEqual({ heard, said: talks.map((talk) => talk.said) }, { heard: expected.heard, said: expected.said })
      }),
      { numRuns },
    )
  })
