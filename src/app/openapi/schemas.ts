import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

type JsonSchema = z.core.JSONSchema.BaseSchema
type Io = 'input' | 'output'

/** Turns schemas into JSON Schema and collects those with an id as components. */
export interface SchemaWriter {
  /** A reference when the schema has an id, else the schema itself. */
  write(schema: z.ZodType, io: Io): Readonly<Record<string, unknown>>
  /** The fields of a query or of path parameters. */
  inline(schema: z.ZodType): { readonly properties?: Readonly<Record<string, JsonSchema>>; readonly required?: readonly string[] }
  components(): Readonly<Record<string, unknown>>
}

const prefix = '#/components/schemas/'

/** Starts with no components. */
export function schemaWriter(): SchemaWriter {
  const components = new Map<string, unknown>()
  const store = (id: string, schema: unknown): string => {
    const held = components.get(id)
    if (held !== undefined && !isDeepStrictEqual(held, schema)) return store(`${id}Input`, schema)
    components.set(id, schema)
    return prefix + id
  }
  const write = (schema: z.ZodType, io: Io) => {
    const { $schema: _, $defs = {}, id, ...root } = toJson(schema, io)
    const names = new Map(Object.keys($defs).map((name) => [`#/$defs/${name}`, prefix + name]))
    if (typeof id === 'string') names.set('#', prefix + id)
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _id, ...rest } = definition
      store(name, redirect(rest, names))
    }
    const own = redirect(root, names)
    return typeof id === 'string' ? { $ref: store(id, own) } : own
  }
  return {
    write,
    inline: (schema) => {
      const { properties, required } = redirectRoot(write(schema, 'input'), components)
      return { ...(isFields(properties) && { properties }), ...(isNames(required) && { required }) }
    },
    components: () => Object.fromEntries([...components].toSorted(([one], [other]) => one.localeCompare(other))),
  }
}

/** Dates and transforms have no JSON Schema; on the wire they are what the schema's text says, so anything is allowed there. */
const toJson = (schema: z.ZodType, io: Io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' })

function redirect(value: unknown, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(
      Object.entries(part).map(([key, child]) => [
        key,
        key === '$ref' && typeof child === 'string' ? (names.get(child) ?? child) : walk(child),
      ]),
    )
  }
  return Object.fromEntries(Object.entries(Object(walk(value))))
}

/** The object behind a reference. */
function redirectRoot(
  schema: Readonly<Record<string, unknown>>,
  components: ReadonlyMap<string, unknown>,
): Readonly<Record<string, unknown>> {
  const { $ref: reference } = schema
  if (typeof reference !== 'string') return schema
  return Object.fromEntries(Object.entries(Object(components.get(reference.slice(prefix.length)))))
}

const isFields = (value: unknown): value is Readonly<Record<string, JsonSchema>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isNames = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((name) => typeof name === 'string')
