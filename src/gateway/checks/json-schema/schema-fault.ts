import { isFields } from '../../../lib/json/fields.ts'
import { pointerStep } from '../../../lib/json/json-path.ts'
import { patternFault } from '../../patterns/pattern-making.ts'
import { patternSize } from '../../patterns/pattern-size.ts'
import { typeNames } from './keyword.ts'
import { createResolver, type Resolve } from './resolver.ts'

/** Keywords whose work is more than it is worth here; a schema that needs them is refused, never half used. */
const refused = new Set(['$dynamicRef', '$recursiveRef', 'unevaluatedProperties', 'unevaluatedItems'])

/** All patterns of a schema together are at most so large, counted in instructions. */
const maxPatterns = 50_000

/** A part of a schema, and the JSON Pointer to it. */
type Place = readonly [part: unknown, at: string]

/** The shape that a keyword's value must have. */
interface Shape {
  readonly is: string
  readonly fits: (rule: unknown) => boolean
  /** The schemas in it, each with the JSON Pointer to it. */
  readonly schemas?: (rule: unknown, at: string) => readonly Place[]
}

const isSchema = (rule: unknown): boolean => isFields(rule) || typeof rule === 'boolean'
const isTexts = (rule: unknown): boolean => Array.isArray(rule) && rule.every((one) => typeof one === 'string')
const isType = (rule: unknown): boolean => typeof rule === 'string' && Object.hasOwn(typeNames, rule)
const isCount = (rule: unknown): boolean => Number.isInteger(rule) && Number(rule) >= 0
const listOf = (fits: (one: unknown) => boolean) => (rule: unknown) => Array.isArray(rule) && rule.length > 0 && rule.every(fits)
const namedOf = (fits: (one: unknown) => boolean) => (rule: unknown) => isFields(rule) && Object.values(rule).every(fits)
const inside = (rule: unknown, at: string): readonly Place[] =>
  Object.entries(Object(rule)).map(([name, part]: [string, unknown]) => [part, `${at}/${pointerStep(name)}`])
const itself = (rule: unknown, at: string): readonly Place[] => [[rule, at]]

const schema: Shape = { is: 'a schema', fits: isSchema, schemas: itself }
const schemas: Shape = { is: 'a list of schemas', fits: listOf(isSchema), schemas: inside }
const schemasByName: Shape = { is: 'an object of schemas', fits: namedOf(isSchema), schemas: inside }
const count: Shape = { is: 'a whole number of 0 or more', fits: isCount }
const number: Shape = { is: 'a number', fits: Number.isFinite }
const text: Shape = { is: 'a text', fits: (rule) => typeof rule === 'string' }

/** The shapes by keyword. Other fields of a schema are remarks, and may be anything. */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ...['$ref', '$anchor', 'format', 'pattern'].map((name) => [name, text] as const),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((name) => [name, schemas] as const),
  ...['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'].map((name) => [name, schemasByName] as const),
  ...['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'not', 'propertyNames', 'then'].map(
    (name) => [name, schema] as const,
  ),
  ...['maxContains', 'maxItems', 'maxLength', 'maxProperties', 'minContains', 'minItems', 'minLength', 'minProperties'].map(
    (name) => [name, count] as const,
  ),
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum'].map((name) => [name, number] as const),
  [
    'dependencies',
    { is: 'an object of schemas or lists of names', fits: namedOf((one) => isSchema(one) || isTexts(one)), schemas: inside },
  ],
  ['dependentRequired', { is: 'an object of lists of names', fits: namedOf(isTexts) }],
  ['enum', { is: 'a list', fits: Array.isArray }],
  [
    'items',
    {
      is: 'a schema or a list of schemas',
      fits: (rule) => isSchema(rule) || schemas.fits(rule),
      schemas: (rule, at) => (Array.isArray(rule) ? inside : itself)(rule, at),
    },
  ],
  ['multipleOf', { is: 'a number above 0', fits: (rule) => Number.isFinite(rule) && Number(rule) > 0 }],
  ['required', { is: 'a list of names', fits: isTexts }],
  ['type', { is: `one of ${Object.keys(typeNames).join(', ')}, or a list of them`, fits: (rule) => isType(rule) || listOf(isType)(rule) }],
  ['uniqueItems', { is: 'true or false', fits: (rule) => typeof rule === 'boolean' }],
])

/** The keywords that describe a schema, and do not constrain values. */
const remarks = new Set(
  `$schema $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment $defs definitions title description default examples example
   deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema`.split(/\s+/),
)

/** A schema whose every keyword is misspelt would let all JSON pass; an empty one asks for any JSON. */
function misspeltFault(root: unknown): string | null {
  const names = Object.keys(Object(root)).filter((name) => !remarks.has(name) && !name.startsWith('x-'))
  if (names.length === 0 || names.some((name) => name === 'const' || shapes.has(name))) return null
  return `judges nothing: \`${names[0] ?? ''}\` is no keyword`
}

/**
 * Returns the fault of a schema, as a sentence's end; null when it can be used. A keyword of the wrong shape would have no effect, and its author
 * would never notice.
 */
export function schemaFault(root: unknown): string | null {
  const resolve = createResolver(root)
  const patterns = new Set<string>()
  for (const { name, rule, at } of keywordsIn(root, resolve)) {
    const fault = keywordFault(name, rule, { at, resolve })
    if (fault !== null) return fault
    for (const pattern of patternsOf(name, rule)) patterns.add(pattern)
  }
  return misspeltFault(root) ?? patternsFault([...patterns])
}

/** The patterns of a schema without faults. */
export const patternsIn = (root: unknown): ReadonlySet<string> =>
  new Set([...keywordsIn(root, createResolver(root))].flatMap(({ name, rule }) => patternsOf(name, rule)))

/** Every keyword of a schema and of those in it, each with the JSON Pointer to the schema it stands in. */
function* keywordsIn(root: unknown, resolve: Resolve) {
  const seen = new Set<unknown>()
  const waiting: Place[] = [[root, '#']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, at] = next
    if (!isFields(part) || seen.has(part)) continue
    seen.add(part)
    for (const [name, rule] of Object.entries(part)) {
      yield { name, rule, at }
      if (name === '$ref') waiting.push([resolve(String(rule)), String(rule)])
      else waiting.push(...(shapes.get(name)?.schemas?.(rule, `${at}/${name}`) ?? []))
    }
  }
}

function keywordFault(name: string, rule: unknown, { at, resolve }: { at: string; resolve: Resolve }): string | null {
  if (refused.has(name)) return `uses ${name}, which is not supported`
  const shape = shapes.get(name)
  if (shape?.fits(rule) === false) return `is wrong at ${at}: \`${name}\` is not ${shape.is}`
  if (name !== '$ref') return null
  const referred = resolve(String(rule))
  return isSchema(referred) ? null : `refers to ${String(rule)}, which is ${referred === undefined ? 'not in it' : 'no schema'}`
}

function patternsOf(name: string, rule: unknown): readonly string[] {
  if (name === 'pattern') return [String(rule)]
  return name === 'patternProperties' ? Object.keys(Object(rule)) : []
}

function patternsFault(patterns: readonly string[]): string | null {
  if (patterns.reduce((sum, pattern) => sum + patternSize(pattern), 0) > maxPatterns) return 'has patterns that are too large together'
  const fault = patterns.map(patternFault).find((found) => found !== null)
  return fault === undefined ? null : `has a pattern that ${fault}`
}
