import fc from 'fast-check'
import type { Description, Schema } from './document.ts'

type Values = fc.Arbitrary<unknown>

export interface Making {
  readonly resolve: Description['resolve']
  /** The characters of ids and slugs. */
  readonly references: readonly string[]
  /** Only the fields that the schema requires. */
  readonly minimal?: true
}

const deepest = 3

/** Values that a schema allows, odd ones among them; values that a rule beyond the schema forbids may be among them too. */
export function valuesOf(schema: Schema, making: Making, depth = 0): Values {
  const own = making.resolve(schema)
  const { anyOf, oneOf, enum: listed, const: only, type } = own
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(listed)) return fc.constantFrom(...(listed as unknown[]))
  const branches = anyOf ?? oneOf ?? (Array.isArray(type) ? type.map((one: unknown) => ({ ...own, type: one })) : undefined)
  if (Array.isArray(branches)) return fc.oneof(...branches.map((branch: Schema) => valuesOf(branch, making, depth)))
  const make = typeof type === 'string' ? kinds[type] : undefined
  return make === undefined ? anything : make(own, making, depth)
}

/** Any JSON where the schema is open. */
const anything: Values = fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' })

const numberOf = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)

const kinds: Readonly<Record<string, (schema: Schema, making: Making, depth: number) => Values>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum, maximum, exclusiveMinimum }) =>
    fc.integer({
      min: Math.max(numberOf(minimum, -(2 ** 31)), numberOf(exclusiveMinimum, -Infinity) + 1),
      max: Math.min(numberOf(maximum, 2 ** 31 - 1), 2 ** 31 - 1),
    }),
  number: ({ minimum, maximum, exclusiveMinimum }) =>
    fc.double({
      min: numberOf(exclusiveMinimum ?? minimum, -1e300),
      max: numberOf(maximum, 1e300),
      minExcluded: exclusiveMinimum !== undefined,
      noNaN: true,
    }),
  string: textsOf,
  array: ({ items, minItems, maxItems }, making, depth) => {
    const least = numberOf(minItems, 0)
    const most = depth > deepest || making.minimal === true ? least : Math.min(least + 2, numberOf(maxItems, Infinity))
    return fc.array(valuesOf(isSchema(items) ? items : {}, making, depth + 1), { minLength: least, maxLength: most })
  },
  object: objectsOf,
}

function objectsOf({ properties = {}, required = [], additionalProperties, propertyNames }: Schema, making: Making, depth: number): Values {
  const needed = new Set(required as string[])
  const fields = Object.entries(properties as Record<string, Schema>).filter(
    ([name]) => needed.has(name) || (making.minimal !== true && depth <= deepest),
  )
  const known = fc.record(Object.fromEntries(fields.map(([name, schema]) => [name, fieldOf(name, schema, { making, depth })])), {
    requiredKeys: [...needed].filter((name) => fields.some(([own]) => own === name)),
  })
  if (!isSchema(additionalProperties) || making.minimal === true || depth > deepest) return known
  const names = isSchema(propertyNames) ? valuesOf(propertyNames, making, depth + 1) : fc.string({ minLength: 1, maxLength: 20 })
  const others = fc.dictionary(names as fc.Arbitrary<string>, valuesOf(additionalProperties, making, depth + 1), { maxKeys: 2 })
  return fc.tuple(others, known).map(([other, own]) => Object.assign({}, other, own) as unknown)
}

/** A field that refers to something does so more often than not. */
function fieldOf(name: string, schema: Schema, { making, depth }: { making: Making; depth: number }): Values {
  const values = valuesOf(schema, making, depth + 1)
  return making.references.length > 0 && /(?:^|_)(?:ids?|slug|key|provider)$/.test(name) && making.resolve(schema)['type'] === 'string'
    ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...making.references) }, values)
    : values
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts that break careless code: a NUL, half a character, quotes, wildcards, templates, paths, names of prototypes. */
const odd = [
  '\0',
  '\ud800',
  "'; --",
  '%_\\',
  '{{#a}}{{/b}}',
  '../..',
  '__proto__',
  'constructor',
  '\u2028',
  'é',
  '💥',
  '1e400',
  'null',
  ' ',
]

const formats: Readonly<Record<string, Values>> = {
  uuid: fc.uuid(),
  email: fc.constantFrom('ada@example.com', 'b.c+d@example.org'),
  uri: fc.constantFrom('https://example.com/', 'http://10.0.0.1/x', 'https://example.com:8443/a?b=c'),
  date: fc.constantFrom('2026-02-28', '0001-01-01', '9999-12-31'),
  'date-time': fc.constantFrom('2099-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-05-05T05:05:05+14:00'),
}

function textsOf({ format, pattern, minLength, maxLength }: Schema, { references }: Making): Values {
  const known = typeof format === 'string' ? formats[format] : undefined
  if (known !== undefined) return known
  const [least, most] = [numberOf(minLength, 0), numberOf(maxLength, 100_000)]
  const fits = (text: string) =>
    text.length >= least && text.length <= most && (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text))
  const candidates = [
    ...odd,
    ...references,
    'a',
    'team_1',
    'A-b',
    '#ff8800',
    '1',
    'https://example.com',
    '/chat/completions',
    '2099-01-01',
    'x'.repeat(Math.min(most, 5000)),
  ]
  return fc.constantFrom(...candidates.filter(fits), ...matching(pattern, least, most))
}

/** Texts made from the pattern itself. */
function matching(pattern: unknown, minLength: number, maxLength: number): readonly string[] {
  if (typeof pattern !== 'string') return ['plain text'.slice(0, maxLength).padEnd(minLength, '.')]
  try {
    return fc
      .sample(fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: Math.min(maxLength, 50) }), { numRuns: 3, seed: 1 })
      .filter(({ length }) => length >= minLength)
  } catch {
    return [] // Classes of Unicode cannot be turned around; then the candidates have to do.
  }
}
