import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { atLevel, type ShownLevel } from '../../release/at-level.ts'

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

type NamedSchema = readonly [id: string, schema: unknown]

/** One id may stand for two shapes: that of requests and that of answers. All parts of a schema that clashes get the suffix. */
const suffixes = ['', 'Input', 'Input2', 'Input3']

/** A schema's parts that become components, and how the schema itself is then written. */
function nameParts(
  { $schema: _schema, $defs = {}, id, ...root }: JsonSchema,
  suffix: string,
): { readonly parts: readonly NamedSchema[]; readonly use: Readonly<Record<string, unknown>> } {
  const names = new Map(Object.keys($defs).map((name) => [`#/$defs/${name}`, prefix + name + suffix]))
  if (typeof id === 'string') names.set('#', prefix + id + suffix)
  const parts = Object.entries($defs).map(([name, { id: _own, ...definition }]): NamedSchema => [
    name + suffix,
    redirect(definition, names),
  ])
  const own = redirect(root, names)
  if (typeof id !== 'string') return { parts, use: own }
  return { parts: [...parts, [id + suffix, own]], use: { $ref: prefix + id + suffix } }
}

/** Starts with no components. Schemas are written as they are at the level. */
export function schemaWriter(level: string | ShownLevel): SchemaWriter {
  const components = new Map<string, unknown>()
  const fits = ([id, schema]: NamedSchema) => !components.has(id) || isDeepStrictEqual(components.get(id), schema)
  const write = (schema: z.ZodType, io: Io) => {
    const json = toJson(atLevel(schema, level, 'description'), io)
    const named = suffixes.map((suffix) => nameParts(json, suffix)).find(({ parts }) => parts.every(fits))
    if (named === undefined)
      throw new Error(
        `Too many different schemas share an id of: ${nameParts(json, '')
          .parts.map(([id]) => id)
          .join(', ')}`,
      )
    for (const [id, part] of named.parts) components.set(id, part)
    return named.use
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

const written = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() }

/**
 * Dates and transforms have no JSON Schema; on the wire they are text, described by the schema's text, so any value is allowed there. Kept, because
 * the documents of all levels are made of the same schemas.
 */
function toJson(schema: z.ZodType, io: Io): JsonSchema {
  const kept = written[io].get(schema)
  if (kept !== undefined) return kept
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  written[io].set(schema, json)
  return json
}

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
