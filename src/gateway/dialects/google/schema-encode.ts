import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { referred, type SchemaPlace } from '../written-out.ts'
import { fitted, joined } from './schema-fit.ts'

/** Returns a JSON Schema for a model that takes them as they are, but for the name of their version. */
export function wholeSchema(schema: Fields): Fields {
  if (!('$schema' in schema)) return withLoneReferences(schema)
  const { $schema: _version, ...rest } = schema
  return withLoneReferences(rest)
}

/** Only words that begin with a dollar may stand beside a reference: other words stand around it. The very same schema, if it is so. */
function withLoneReferences(schema: Fields): Fields {
  let changed: Record<string, unknown> | null = null
  for (const name in schema) {
    const own = verbatim.has(name) ? schema[name] : lone(schema[name])
    if (own !== schema[name]) (changed ??= { ...schema })[name] = own
  }
  const { $ref, ...rest } = changed ?? schema
  if (typeof $ref !== 'string' || 'anyOf' in rest || Object.keys(rest).every((name) => name.startsWith('$'))) return changed ?? schema
  return { ...rest, anyOf: [{ $ref }] }
}

const verbatim: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'example', 'examples', 'required'])

function lone(value: unknown): unknown {
  if (isFields(value)) return withLoneReferences(value)
  if (!Array.isArray(value)) return value
  const own = value.map((one: unknown) => lone(one))
  return own.every((one, index) => one === value[index]) ? value : own
}

/** The fields of Google's older schemas that are written as JSON Schema writes them. */
const kept: ReadonlySet<string> = new Set([
  'title',
  'description',
  'required',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'pattern',
  'minimum',
  'maximum',
  'default',
])

const formats: ReadonlySet<string> = new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double'])

/** Fields that do not constrain a value, so that no one misses them. */
const silent: ReadonlySet<string> = new Set(['$schema', '$id', '$defs', 'definitions', '$comment', 'nullable'])

/** So deep a schema may be; a reference to itself has no end. */
const mostDepth = 40

interface Walk extends SchemaPlace {
  readonly root: Fields
  readonly depth: number
}

/**
 * Returns a JSON Schema in the part of OpenAPI's schemas that older models take: references are written out, a type that may be null is `nullable`, a
 * constant is a list of one. Words that this part lacks only make a schema looser: they are dropped, and reported as a loss.
 */
export function subsetSchema(schema: Fields, place: SchemaPlace): Fields {
  place.size.begin(schema, place.at)
  return subset(schema, { ...place, root: schema, depth: 0 })
}

const subset = (given: Fields, walk: Walk): Fields => fitted(translated(given, walk), walk)

/** Returns a schema in Google's words. */
function translated(given: Fields, walk: Walk): Fields {
  const { at, depth, loss } = walk
  if (depth > mostDepth) return loss.refuseAt(at, 'refers to itself, and this model takes no such schema')
  const schema = resolved(given, walk)
  count(schema, walk)
  const deeper = { ...walk, depth: depth + 1 }
  const written: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    const write = Object.hasOwn(writers, name) ? writers[name] : undefined
    const found = write?.(value, deeper, schema) ?? null
    if (found !== null) Object.assign(written, found)
    else if (kept.has(name)) written[name] = value
    else if (!silent.has(name)) loss.dropAt(`${at}.${name}`, 'is not known to this model')
  }
  if (schema['nullable'] === true) written['nullable'] = true
  return written
}

const nothing: Fields = {}

/** The words whose values are written whole; schemas within a schema are counted where they are written. */
const whole: ReadonlySet<string> = new Set([...kept, 'type', 'enum', 'const'])

function count(schema: Fields, { size }: Walk): void {
  size.addNames(Object.keys(schema))
  for (const [name, value] of Object.entries(schema))
    if (whole.has(name)) size.add(value)
    else if (name === 'properties' && isFields(value)) size.addNames(Object.keys(value))
}

/** Writes a field of a schema; null: it cannot be written. */
type Writer = (value: unknown, walk: Walk, schema: Fields) => Fields | null

const writers: Readonly<Record<string, Writer>> = {
  type: (value, _walk, schema) => writeType(value, schema),
  format: (value) => (typeof value === 'string' && formats.has(value) ? { format: value } : null),
  enum: (value, walk) => (Array.isArray(value) ? writeEnum(value, walk) : null),
  const: (value, walk) => writeEnum([value], walk),
  // An object of no properties is refused with an empty list of them, and taken without one.
  properties(value, walk) {
    if (!isFields(value)) return null
    return Object.keys(value).length === 0 ? nothing : { properties: writeProperties(value, walk) }
  },
  items: (value, walk) => (isFields(value) ? { items: subset(value, walk) } : null),
  anyOf: (value, walk) => (Array.isArray(value) ? writeAny(value, walk) : null),
  oneOf: (value, walk) => (Array.isArray(value) ? writeAny(value, walk) : null),
  allOf: (value, walk) => (Array.isArray(value) ? writeAll(value, walk) : null),
}

const writeAll = (schemas: readonly unknown[], walk: Walk): Fields =>
  joined(schemas.filter((one) => isFields(one)).map((one) => translated(one, walk)))

const writeProperties = (properties: Fields, walk: Walk): Fields =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, subset(isFields(value) ? value : nothing, walk)]))

/** Follows a reference within the schema. */
function resolved(schema: Fields, { root, at, loss, depth, size }: Walk): Fields {
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string') return schema
  size.addNames([reference, ...Object.keys(rest)])
  const found = referred(root, reference)
  if (found === null || depth >= mostDepth) return loss.refuseAt(at, `refers to ${reference.slice(0, 60)}, which cannot be written out`)
  return resolved({ ...found, ...rest }, { root, at, loss, size, depth: depth + 1 })
}

function writeType(type: unknown, { anyOf, oneOf }: Fields): Fields {
  if (typeof type === 'string') return { type: type.toUpperCase() }
  if (!Array.isArray(type)) return {}
  const named = type.filter((one) => typeof one === 'string' && one !== 'null').map((one) => String(one).toUpperCase())
  const nullable = type.includes('null') && { nullable: true }
  if (named.length < 2) return { ...(named.length === 1 && { type: named[0] }), ...nullable }
  return anyOf === undefined && oneOf === undefined ? { anyOf: named.map((one) => ({ type: one })), ...nullable } : { ...nullable }
}

/** Values of an enum are strings there. */
function writeEnum(values: readonly unknown[], { at, loss }: Walk): Fields {
  const named = values.filter((value) => value !== null && value !== '')
  if (values.includes('')) loss.dropAt(`${at}.enum`, 'has an empty text')
  if (named.some((value) => typeof value !== 'string')) loss.dropAt(`${at}.enum`, 'has values that are no strings')
  return {
    type: 'STRING',
    format: 'enum',
    enum: named.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
    ...(values.includes(null) && { nullable: true }),
  }
}

function writeAny(schemas: readonly unknown[], walk: Walk): Fields {
  const all = schemas.filter((one) => isFields(one))
  const named = all.filter(({ type }) => type !== 'null')
  const nullable = named.length < all.length && { nullable: true }
  const [only] = named
  if (named.length === 1 && only !== undefined) return { ...translated(only, walk), ...nullable }
  return { anyOf: named.map((one) => translated(one, walk)), ...nullable }
}
