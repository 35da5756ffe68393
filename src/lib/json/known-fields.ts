import type { z } from 'zod'
import { isFields } from './fields.ts'

/** The properties of a definition that hold the same value in another form. */
const wrappers = ['innerType', 'in', 'out', 'left', 'right', 'options'] as const
const items = ['element', 'valueType', 'items', 'rest'] as const

/** Returns the names of the fields that an object at a path may have, by all forms that its schema allows. */
export function knownFields(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  let schemas = formsOf(schema)
  for (const part of path) schemas = schemas.flatMap((one) => partsAt(one, part)).flatMap(formsOf)
  return [...new Set(schemas.flatMap((one) => Object.keys(Object(definition(one)['shape']))))]
}

/** Returns the schemas behind wrappers and unions. */
function formsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const inner = within(schema, wrappers)
  return inner.length === 0 ? [schema] : inner.flatMap(formsOf)
}

function partsAt(schema: z.core.$ZodType, part: PropertyKey): readonly z.core.$ZodType[] {
  const { shape } = definition(schema)
  const field: unknown = isFields(shape) ? shape[String(part)] : undefined
  return isSchema(field) ? [field] : within(schema, items)
}

const within = (schema: z.core.$ZodType, names: readonly string[]): readonly z.core.$ZodType[] =>
  names.flatMap((name) => [definition(schema)[name]].flat()).filter(isSchema)

const definition = (schema: z.core.$ZodType): Readonly<Record<string, unknown>> => Object(schema._zod.def)

const isSchema = (value: unknown): value is z.core.$ZodType => typeof value === 'object' && value !== null && '_zod' in value
