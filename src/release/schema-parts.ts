import type { z } from 'zod'

type Schema = z.core.$ZodType
type Def = Readonly<Record<string, unknown>>

/** The properties in which a schema holds others, except the fields of an object and lazy schemas. */
const single = ['element', 'innerType', 'in', 'out', 'left', 'right', 'keyType', 'valueType', 'rest', 'catchall'] as const
const lists = ['options', 'items'] as const

export const defOf = (schema: Schema): Def => Object(schema._zod.def)

/** The fields of an object by name; null for all other schemas. */
export const shapeOf = (schema: Schema): Readonly<Record<string, z.ZodType>> | null => {
  const { type, shape } = defOf(schema)
  return type === 'object' ? Object.fromEntries(Object.entries(Object(shape)).flatMap(([name, part]) => named(name, part))) : null
}

const named = (name: string, part: unknown): readonly (readonly [string, z.ZodType])[] => (isSchema(part) ? [[name, part]] : [])

/** A schema within another one. */
export interface Part {
  readonly schema: z.ZodType
  /** The field of the value; null of an item, a form or a wrapper. */
  readonly field: string | null
}

/** The schemas that a schema is made of. */
export function partsOf(schema: Schema): readonly Part[] {
  const def = defOf(schema)
  const inner = def['type'] === 'lazy' && typeof def['getter'] === 'function' ? [Reflect.apply(def['getter'], def, [])] : []
  return [
    ...Object.entries(shapeOf(schema) ?? {}).map(([field, part]) => ({ schema: part, field })),
    ...[...single, ...lists]
      .flatMap((key) => [def[key]].flat())
      .concat(inner)
      .filter(isSchema)
      .map((part) => ({ schema: part, field: null })),
  ]
}

/** Returns the schemas directly within, each changed by `change`; fields are left to the caller. */
export function changedParts(schema: Schema, change: (part: z.ZodType) => unknown): Record<string, unknown> {
  const { shape: _, ...def } = defOf(schema)
  const changed: Record<string, unknown> = { ...def }
  for (const key of single) if (isSchema(def[key])) changed[key] = change(def[key])
  for (const key of lists) if (Array.isArray(def[key])) changed[key] = def[key].map((one: unknown) => (isSchema(one) ? change(one) : one))
  if (def['type'] === 'lazy' && typeof def['getter'] === 'function') {
    const { getter } = def
    changed['getter'] = () => {
      const inner: unknown = Reflect.apply(getter, def, [])
      return isSchema(inner) ? change(inner) : inner
    }
    delete changed['_cachedInner']
  }
  return changed
}

export const isSchema = (value: unknown): value is z.ZodType => typeof value === 'object' && value !== null && '_zod' in value
