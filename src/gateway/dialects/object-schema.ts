import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Loss } from './neutral/loss.ts'
import type { FunctionTool } from './neutral/request.ts'

const noParameters: Fields = { type: 'object', properties: {} }

/** Words that may not stand at the top of the parameters of a function. */
const unions = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * Returns the parameters of a function as most vendors demand them: at the top an object with a list of fields, although it may be empty, and no
 * choice between objects; every list has a schema for its items. A choice becomes one object of all their fields, of which those are required that
 * all require.
 */
export function objectSchema({ parameters, at }: Pick<FunctionTool, 'parameters' | 'at'>, loss: Loss): Fields {
  if (parameters === null) return noParameters
  const { $schema: _version, ...plain } = withItems(parameters)
  const root = mergedUnions(resolvedRoot(plain), `${at}.parameters`, loss)
  if (root['type'] === 'object' && isFields(root['properties'])) return root
  const { type: _type, properties, ...rest } = root
  return { type: 'object', properties: isFields(properties) ? properties : {}, ...rest }
}

/** Returns a schema whose top is not another one of its own. */
function resolvedRoot(schema: Fields): Fields {
  const { $ref: reference, ...rest } = schema
  const found = definitionOf(reference, schema)
  return found === null ? schema : { ...found, ...rest }
}

function definitionOf(reference: unknown, root: Fields): Fields | null {
  const [, group = '', name = ''] = typeof reference === 'string' ? (/^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []) : []
  const held = root[group]
  const found = isFields(held) && Object.hasOwn(held, name) ? held[name] : null
  return isFields(found) ? found : null
}

function mergedUnions(schema: Fields, at: string, loss: Loss): Fields {
  const present = unions.filter((name) => Array.isArray(schema[name]))
  if (present.length === 0) return schema
  let merged = schema
  for (const name of present) {
    loss.note(`${at}.${name} (its fields stand side by side)`)
    merged = merge(merged, name)
  }
  return merged
}

function merge(schema: Fields, name: (typeof unions)[number]): Fields {
  const { [name]: choices, ...rest } = schema
  const objects = (Array.isArray(choices) ? choices : []).filter((one) => isFields(one)).map((one) => fieldsOf(one, schema))
  // Choices may refer to one and the same object, of any number of fields.
  const fields = new Set([...objects.map(({ properties }) => properties), fieldsOf(rest, {}).properties])
  const properties = Object.fromEntries([...fields].flatMap((one) => Object.entries(one)))
  const needed = [...new Set(objects.map(({ required }) => required))].map((names) => new Set(names))
  const [first = new Set(), ...others] = needed
  const shared =
    name === 'allOf' ? needed.flatMap((names) => Array.from(names)) : [...first].filter((one) => others.every((names) => names.has(one)))
  const required = [...new Set([...listOf(rest['required']), ...shared])]
  return { ...rest, type: 'object', properties, ...(required.length > 0 && { required }) }
}

interface ObjectFields {
  readonly properties: Fields
  readonly required: readonly unknown[]
}

const none: Fields = {}
const noNames: readonly unknown[] = []

/** Returns the fields of an object, which may refer to a definition of its root. */
function fieldsOf(schema: Fields, root: Fields): ObjectFields {
  const found = definitionOf(schema['$ref'], root) ?? none
  const properties = 'properties' in schema ? schema['properties'] : found['properties']
  return {
    properties: isFields(properties) ? properties : none,
    required: listOf('required' in schema ? schema['required'] : found['required']),
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : noNames)

/** Values that are no schemas, and names of fields in place of words. */
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'example', 'examples', 'required'])
const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])

const lacksItems = ({ type, items }: Fields): boolean =>
  items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array')))

/** Returns a schema in which every list has a schema for its items; the very same, if all do. */
function withItems(schema: Fields): Fields {
  let changed: Record<string, unknown> | null = null
  for (const name in schema) {
    const value = schema[name]
    const own = values.has(name) ? value : maps.has(name) && isFields(value) ? eachWithItems(value) : within(value)
    if (own !== value) (changed ??= { ...schema })[name] = own
  }
  return lacksItems(schema) ? { ...(changed ?? schema), items: {} } : (changed ?? schema)
}

function within(value: unknown): unknown {
  if (isFields(value)) return withItems(value)
  if (!Array.isArray(value)) return value
  const own = value.map((one: unknown) => within(one))
  return own.every((one, index) => one === value[index]) ? value : own
}

function eachWithItems(schemas: Fields): Fields {
  let changed: Record<string, unknown> | null = null
  for (const name in schemas) {
    const own = within(schemas[name])
    if (own !== schemas[name]) (changed ??= { ...schemas })[name] = own
  }
  return changed ?? schemas
}
