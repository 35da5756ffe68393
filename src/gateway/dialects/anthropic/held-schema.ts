import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { referred } from '../written-out.ts'

/** A schema and its place in the caller's body. */
interface GivenSchema {
  readonly at: string
  readonly loss: Loss
}

/**
 * Returns a JSON Schema in the part to which Claude can be held, for answers and for strict tools: every object is closed, and unsupported bounds
 * stand in the description of the bounded value, where the model reads them. Null: the schema cannot be expressed so, since it has fields of any
 * name, refers to itself or to another document, or depends on conditions.
 */
export function heldSchema(schema: Fields, { at, loss }: GivenSchema): Fields | null {
  if (isRecursive(schema)) return null
  const walk: Walk = { told: [] }
  const held = hold(schema, { walk, at })
  if (held !== null) for (const place of walk.told) loss.note(place)
  return held
}

interface Walk {
  /** The places of the bounds that were moved. */
  readonly told: string[]
}

interface Place {
  readonly walk: Walk
  readonly at: string
}

const formats: ReadonlySet<unknown> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Words that are taken as they are. */
const kept: ReadonlySet<string> = new Set(['type', 'title', 'description', 'const', 'default', 'required', '$ref'])

/** Words that do not constrain a value. */
const silent: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  'additionalProperties',
  'deprecated',
  'readOnly',
  'writeOnly',
])

/** Words that no description can stand for, in a model that is held to a schema without them. */
const unsayable: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  'patternProperties',
  'prefixItems',
  'contains',
  'propertyNames',
  '$dynamicRef',
])

/** Words that hint at values, and bound none. */
const hints: ReadonlySet<string> = new Set(['example', 'examples', 'nullable'])

type Writer = (value: unknown, place: Place) => unknown

/** Writes the value of a word; undefined: it goes into the description; null: it cannot be expressed. */
const writers: Readonly<Record<string, Writer>> = {
  properties: (value, place) => (isFields(value) ? holdEach(value, place) : null),
  $defs: (value, place) => (isFields(value) ? holdEach(value, place) : null),
  definitions: (value, place) => (isFields(value) ? holdEach(value, place) : null),
  items: (value, place) => (isFields(value) ? hold(value, place) : null),
  anyOf: (value, place) => holdAll(value, place),
  oneOf: (value, place) => holdAll(value, place),
  allOf: (value, place) => (refers(value) ? null : holdAll(value, place)),
  enum: (value) => (Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null) ? value : null),
  format: (value) => (formats.has(value) ? value : undefined),
  pattern: (value) => (typeof value === 'string' && isPlainPattern(value) ? value : undefined),
  minItems: (value) => (value === 0 || value === 1 ? value : undefined),
}

/** The schemas that were searched for references, so that schemas in schemas are searched once. */
const referring = new WeakMap<object, boolean>()

/** Returns true if a schema refers to another, itself or anywhere below. */
function refers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const known = referring.get(value)
  if (known !== undefined) return known
  const found = Object.hasOwn(value, '$ref') || Object.values(value).some((one) => refers(one))
  referring.set(value, found)
  return found
}

const names: Readonly<Record<string, string>> = { oneOf: 'anyOf' }

/** A word of a schema as it is written; told: it stands in the description. Null: it cannot be expressed. */
type Word = { readonly value: unknown } | 'told' | null

function written(name: string, value: unknown, place: Place): Word {
  if (unsayable.has(name)) return null
  if (kept.has(name)) return { value }
  const found = (Object.hasOwn(writers, name) ? writers[name] : undefined)?.(value, place)
  return found === undefined ? 'told' : found === null ? null : { value: found }
}

function hold(schema: Fields, { walk, at }: Place): Fields | null {
  if (isOpen(schema)) return null
  const held: Record<string, unknown> = {}
  const told: (readonly [name: string, value: unknown])[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (silent.has(name) || name.startsWith('x-')) continue
    const word = written(name, value, { walk, at: `${at}.${name}` })
    if (word === null) return null
    if (word === 'told') told.push([name, value])
    else held[names[name] ?? name] = word.value
  }
  if (isObject(schema)) held['additionalProperties'] = false
  if (told.length === 0) return held
  for (const [name] of told) if (!hints.has(name)) walk.told.push(`${at}.${name}`)
  return { ...held, description: withBounds(schema['description'], told) }
}

function withBounds(description: unknown, told: readonly (readonly [name: string, value: unknown])[]): string {
  const bounds = `{${told.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')}}`
  return typeof description === 'string' && description !== '' ? `${description} ${bounds}` : bounds
}

function holdEach(schemas: Fields, { walk, at }: Place): Fields | null {
  const held: (readonly [string, Fields])[] = []
  for (const [name, schema] of Object.entries(schemas)) {
    const one = isFields(schema) ? hold(schema, { walk, at: `${at}.${name}` }) : null
    if (one === null) return null
    held.push([name, one])
  }
  return Object.fromEntries(held)
}

function holdAll(schemas: unknown, { walk, at }: Place): readonly Fields[] | null {
  if (!Array.isArray(schemas)) return null
  const held: Fields[] = []
  for (const [index, schema] of schemas.entries()) {
    const one = isFields(schema) ? hold(schema, { walk, at: `${at}[${index}]` }) : null
    if (one === null) return null
    held.push(one)
  }
  return held
}

const isObject = ({ type, properties }: Fields): boolean =>
  properties !== undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))

/** Returns true for an object that may have fields of any name, and would have none if it were closed. */
function isOpen(schema: Fields): boolean {
  const { properties, additionalProperties: more, anyOf, oneOf, allOf, $ref: reference } = schema
  if (isFields(more) && Object.keys(more).length > 0) return true
  if (!isObject(schema) || more === false || [anyOf, oneOf, allOf, reference].some((one) => one !== undefined)) return false
  return !isFields(properties) || (Object.keys(properties).length === 0 && more !== undefined)
}

/** Regular expressions without the parts that Claude's grammar lacks: groups that look around, references back, and borders of words. */
const isPlainPattern = (pattern: string): boolean => !/\(\?[=!<]|\\[1-9bBk]|\{\d{3,}/.test(pattern)

/** References to references; more count as endless. */
const mostReferences = 100

/** Returns true for a schema whose references lead back to where they stand, or out of it. */
function isRecursive(root: Fields): boolean {
  const done = new Set<string>()
  const open = new Set<string>()
  const leadsBack = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some((one) => leadsBack(one))
    if (!isFields(value)) return false
    const reference = value['$ref']
    if (typeof reference === 'string' && followsBack(reference)) return true
    return Object.entries(value).some(([name, one]) => !apart.has(name) && leadsBack(one))
  }
  const followsBack = (reference: string): boolean => {
    if (open.has(reference) || open.size === mostReferences) return true
    if (done.has(reference)) return false
    const found = referred(root, reference)
    if (found === null) return true
    open.add(reference)
    const back = leadsBack(found)
    open.delete(reference)
    done.add(reference)
    return back
  }
  return leadsBack(root)
}

/** Schemas that count where they are referred to, and values that are no schemas. */
const apart: ReadonlySet<string> = new Set(['$defs', 'definitions', 'enum', 'const', 'default', 'examples'])
