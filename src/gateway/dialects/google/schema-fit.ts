import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { SchemaPlace } from '../written-out.ts'

/** The words that each type supports, beside those of all. */
const wordsOf: Readonly<Record<string, ReadonlySet<string>>> = {
  STRING: new Set(['format', 'enum', 'minLength', 'maxLength', 'pattern']),
  NUMBER: new Set(['format', 'minimum', 'maximum']),
  INTEGER: new Set(['format', 'minimum', 'maximum']),
  BOOLEAN: new Set(),
  ARRAY: new Set(['items', 'minItems', 'maxItems']),
  OBJECT: new Set(['properties', 'required', 'minProperties', 'maxProperties', 'propertyOrdering']),
}
const common: ReadonlySet<string> = new Set(['type', 'title', 'description', 'nullable', 'default', 'example'])
const formatsOf: Readonly<Record<string, ReadonlySet<unknown>>> = {
  STRING: new Set(['enum', 'date-time']),
  NUMBER: new Set(['float', 'double']),
  INTEGER: new Set(['int32', 'int64']),
}

/**
 * Returns a schema of Google's words by the rules that its API has beyond them: every schema has a type, and words of that type alone; a choice
 * stands alone, so that words beside it go into each of its schemas; a list has a schema for its items; only fields that are there are required.
 */
export function fitted(schema: Fields, given: SchemaPlace): Fields {
  const { anyOf, ...beside } = schema
  const { at, loss, size } = given
  if (Array.isArray(anyOf)) {
    const choices = anyOf.filter((one) => isFields(one))
    size.add(beside, choices.length)
    return { anyOf: choices.map((one, index) => fitted(joined([beside, one]), { at: `${at}.anyOf[${index}]`, loss, size })) }
  }
  const type = typeOf(beside)
  if (type === null) loss.note(`${at}.type=string`)
  const known = wordsOf[type ?? 'STRING']
  const kept = Object.entries(beside).filter(([name, value]) => common.has(name) || (known?.has(name) === true && fits(name, value, type)))
  const written: Fields = { ...Object.fromEntries(kept), type: type ?? 'STRING' }
  return type === 'ARRAY' ? withItems(written, given) : type === 'OBJECT' ? withRequired(written) : written
}

/** Returns a schema with the demands of several. Later words replace earlier ones, but for lists of fields. */
export function joined(schemas: readonly Fields[]): Fields {
  const lists = schemas.map(({ properties }) => properties).filter((one) => isFields(one))
  const required = new Set(schemas.flatMap((one) => listOf(one['required'])))
  const words: Record<string, unknown> = {}
  for (const one of schemas) Object.assign(words, one)
  return {
    ...words,
    ...(lists.length > 1 && { properties: Object.fromEntries(lists.flatMap((one) => Object.entries(one))) }),
    ...(required.size > 0 && { required: [...required] }),
    ...(schemas.some(({ nullable }) => nullable === true) && { nullable: true }),
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the type of a schema, or the one whose words it has; null: it has none. */
function typeOf(schema: Fields): string | null {
  const { type } = schema
  if (typeof type === 'string' && Object.hasOwn(wordsOf, type)) return type
  const found = Object.entries(wordsOf).find(([, words]) => Object.keys(schema).some((name) => name !== 'format' && words.has(name)))
  return found?.[0] ?? null
}

const fits = (name: string, value: unknown, type: string | null): boolean =>
  name !== 'format' || formatsOf[type ?? 'STRING']?.has(value) === true

function withItems(schema: Fields, { at, loss }: Pick<SchemaPlace, 'at' | 'loss'>): Fields {
  if (isFields(schema['items'])) return schema
  loss.note(`${at}.items.type=string`)
  return { ...schema, items: { type: 'STRING' } }
}

function withRequired({ required, ...schema }: Fields): Fields {
  const { properties } = schema
  const there = isFields(properties) ? listOf(required).filter((name) => typeof name === 'string' && Object.hasOwn(properties, name)) : []
  return there.length === 0 ? schema : { ...schema, required: there }
}
