import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { rateLimitConditions, rateLimitGroups, usageLimitConditions } from '../../../src/features/policies/conditions.schema.ts'
import { isStorableJson } from '../../../src/lib/text/text.ts'

interface Corpus {
  readonly accepted: readonly unknown[]
  readonly refused: readonly unknown[]
}

/** Values with two readings; the finds of the fuzzer are added. */
const corpus = JSON.parse(readFileSync(new URL('../../corpus/policy-conditions.json', import.meta.url), 'utf8')) as Corpus

/** FUZZ_RUNS asks for more than a build has time for. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1500)

test('the corpus is accepted as it is, or refused with a place and a reason', (t) => {
  for (const conditions of corpus.accepted)
    t.deepEqual(usageLimitConditions.parse(conditions) as unknown, conditions, JSON.stringify(conditions))
  for (const conditions of corpus.refused) {
    const { success, error } = usageLimitConditions.safeParse(conditions)
    t.false(success, JSON.stringify(conditions))
    t.true((error?.issues.length ?? 0) > 0 && error?.issues.every(({ message }) => message.length > 5))
  }
})

const plainKey = fc.constantFrom('workspace_id', 'virtual_key', 'provider', 'config', 'prompt', 'endpoint_type')
const metadataKey = fc
  .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 })
  .map((text) => `metadata.${text.replaceAll(/\s/g, '_')}`)
const word = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes('*') && isStorableJson(text))
const model = fc.oneof(word, fc.stringMatching(/^@[a-z0-9_-]{1,10}\/\*$/))

const distinct = <T>(values: fc.Arbitrary<T>, minLength: number) => fc.uniqueArray(values, { minLength, maxLength: 5 })

/** Conditions on one kind of key that the documents allow. */
const conditionOn = (keys: fc.Arbitrary<string>, values: fc.Arbitrary<string>) =>
  fc
    .tuple(keys, distinct(values, 2), fc.constantFrom('one', 'some', 'any'), fc.boolean())
    .map(([key, [first = '', ...rest], shape, excluding]) => ({
      key,
      value: shape === 'any' ? '*' : shape === 'one' ? first : [first],
      excludes: excluding ? (rest.length === 1 ? rest[0] : rest) : undefined,
    }))

const allowed = fc.uniqueArray(
  fc.oneof(
    conditionOn(plainKey, word),
    conditionOn(metadataKey, word),
    conditionOn(fc.constant('model'), model),
    conditionOn(fc.constant('api_key'), fc.uuid()),
  ),
  { minLength: 1, maxLength: 6, selector: ({ key }) => key },
)

test('whatever the documents allow is accepted, and stays as it is', (t) => {
  fc.assert(
    fc.property(allowed, (conditions) => {
      const given: unknown = JSON.parse(JSON.stringify(conditions))
      return isDeepStrictEqual(rateLimitConditions.parse(given), given)
    }),
    { numRuns },
  )
  t.pass()
})

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

const stars = (list: readonly unknown[]) => list.filter((each) => String(each).includes('*'))

/** The conditions on all stored values, once more in other words. */
function holds(conditions: readonly { key: string; value: unknown; excludes?: unknown }[]): boolean {
  const keys = conditions.map(({ key }) => key)
  return (
    keys.length > 0 &&
    new Set(keys).size === keys.length &&
    isStorableJson(conditions) &&
    conditions.every(({ key, value, excludes }) => {
      const [values, excluded] = [listOf(value), listOf(excludes)]
      return (
        values.length > 0 &&
        [...values, ...excluded].every((each) => typeof each === 'string' && each !== '') &&
        !excluded.includes('*') &&
        !values.some((each) => excluded.includes(each)) &&
        (!values.includes('*') || values.length === 1) &&
        [...stars(values), ...stars(excluded)].every((each) => each === '*' || (key === 'model' && /^@[^/]+\/\*$/.test(String(each))))
      )
    })
  )
}

const almost = fc.array(
  fc.record(
    {
      key: fc.oneof(plainKey, fc.constantFrom('model', 'api_key', 'metadata.', 'metadata.x', 'color', '*'), fc.string({ maxLength: 10 })),
      value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('*', '@a/*', 'x*', ['*', 'a'], ['a', 'a'])),
      excludes: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('*', 'a', ['a'])),
      other: fc.constant(1),
    },
    { requiredKeys: ['key', 'value'] },
  ),
  { maxLength: 4 },
)

const sound = (given: unknown) => {
  const parsed = rateLimitConditions.safeParse(JSON.parse(JSON.stringify(given)))
  rateLimitGroups.safeParse(given)
  return !parsed.success || holds(parsed.data)
}

test('whatever else is sent is refused or keeps what conditions promise, and nothing throws', (t) => {
  fc.assert(fc.property(almost, sound), { numRuns })
  fc.assert(fc.property(fc.jsonValue(), sound), { numRuns })
  t.pass()
})
