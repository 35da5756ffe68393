import { z } from 'zod'
import type { JsonPath } from './json-path.ts'

type Schema = z.core.$ZodType

/** The schemas that may describe one value: several where a union, a pipe or an intersection allows several. */
export type Forms = readonly Schema[]

/**
 * Marks the schema of a secret. The audit trail and error texts then show no part of such a value, and the API description calls it
 * `writeOnly`.
 */
export const secretField = <T extends z.ZodType>(schema: T): T => schema.meta({ writeOnly: true })

/** Finds the secrets in a value whose own content marks their place, such as the parameters of a check. */
export type FindSecretPaths = (value: unknown) => readonly JsonPath[]

const finders = new WeakMap<Schema, FindSecretPaths>()

/** Marks a schema of values that contain secrets at places which depend on the value. */
export function containingSecrets<T extends z.ZodType>(schema: T, find: FindSecretPaths): T {
  const marked = schema.clone()
  finders.set(marked, find)
  return marked
}

/** Returns true if one of the schemas, or a wrapper within it, is marked as a secret. */
export const isSecretForm = (forms: Forms): boolean =>
  forms.some((form) => layersOf(form).some((layer) => z.globalRegistry.get(layer)?.['writeOnly'] === true))

/** Returns the paths of the secrets that a value contains, by the schemas of the value as a whole. */
export const secretPathsIn = (forms: Forms, value: unknown): readonly JsonPath[] =>
  forms.flatMap((form) => layersOf(form).flatMap((layer) => finderOf(layer)?.(value) ?? []))

/** Returns the schemas of one member of a value: of a field, or of an item of a list. */
export const formsAt = (forms: Forms, member: string | number): Forms =>
  forms.flatMap((form) => layersOf(form).flatMap((layer) => membersOf(layer, member)))

/** A copy with more description or more checks keeps its mark. */
function finderOf(schema: Schema): FindSecretPaths | undefined {
  const { parent } = schema._zod
  return finders.get(schema) ?? (parent === undefined ? undefined : finderOf(parent))
}

function membersOf(schema: Schema, member: string | number): Forms {
  const { shape, catchall, valueType, element, items, rest } = definition(schema)
  if (typeof member === 'number') return [element, Array.isArray(items) ? (items[member] ?? rest) : undefined].filter(isSchema)
  const field: unknown = isShape(shape) && Object.hasOwn(shape, member) ? shape[member] : catchall
  return [field, valueType].filter(isSchema)
}

/** The properties of a definition that hold the same value in another form. */
const wrappers = ['innerType', 'in', 'out', 'left', 'right', 'options'] as const

const known = new WeakMap<Schema, Forms>()

/** Returns a schema and all that wrappers and unions make it of. */
function layersOf(schema: Schema): Forms {
  const made = known.get(schema)
  if (made !== undefined) return made
  const layers = new Set<Schema>()
  const visit = (layer: Schema) => {
    if (layers.has(layer)) return
    layers.add(layer)
    for (const inner of innerOf(layer)) visit(inner)
  }
  visit(schema)
  known.set(schema, [...layers])
  return [...layers]
}

function innerOf(schema: Schema): Forms {
  const own = definition(schema)
  const { getter } = own
  const lazy: unknown = own['type'] === 'lazy' && typeof getter === 'function' ? Reflect.apply(getter, own, []) : undefined
  return [...wrappers.flatMap((name) => [own[name]].flat()), lazy].filter(isSchema)
}

const definition = (schema: Schema): Readonly<Record<string, unknown>> => Object(schema._zod.def)

const isShape = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && '_zod' in value
