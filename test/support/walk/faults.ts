import fc from 'fast-check'
import type { Description, Schema } from './document.ts'
import { valuesOf } from './values.ts'

/** A value that the schema forbids, and the field that is at fault. */
export interface Fault {
  readonly field: string
  readonly what: string
  readonly value: unknown
}

type Resolve = Description['resolve']

const deepest = 3

/** All faults of one field: each breaks the schema by itself, with any values of the other fields. */
export function faultsOf(schema: Schema, good: unknown, resolve: Resolve, depth = 0): readonly Fault[] {
  const { type, properties, required = [], additionalProperties, items } = resolve(schema)
  if (type === 'array' && isObject(items) && depth <= deepest)
    return faultsOf(items, firstOf(good) ?? leastOf(items, resolve), resolve, depth + 1).map(({ field, what, value }) => ({
      field,
      what,
      value: [value],
    }))
  if (type !== 'object' || depth > deepest) return []
  const base = isObject(good) ? good : {}
  const needed = new Set(required as string[])
  const put = (name: string, value: unknown) => ({ ...base, [name]: value })
  return [
    ...(additionalProperties === false ? [{ field: 'surplus', what: 'unknown', value: put('surplus', 1) }] : []),
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, field]: [string, unknown]) => {
      if (!isObject(field)) return []
      const { [name]: own, ...others } = base
      const missing = needed.has(name) ? [{ field: name, what: 'missing', value: others }] : []
      const wrong = wrongValues(field, resolve).map(([what, value]) => ({ field: name, what, value: put(name, value) }))
      const inner = faultsOf(field, own, resolve, depth + 1)
      return missing.concat(
        wrong,
        inner.map(({ field: child, what, value }) => ({ field: child, what: `${name}: ${what}`, value: put(name, value) })),
      )
    }),
  ]
}

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined)

/** Returns the fields that a schema demands and no more: an item that lacks another field would be refused for that one. */
const leastOf = (schema: Schema, resolve: Resolve): unknown =>
  fc.sample(valuesOf(schema, { resolve, references: [], minimal: true }), { seed: 1, numRuns: 1 })[0]

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Values that a schema forbids, with their faults. */
export function wrongValues(schema: Schema, resolve: Resolve): readonly (readonly [what: string, value: unknown])[] {
  const own = resolve(schema)
  const types = typesOf(own, resolve)
  if (types === null) return []
  const { enum: listed, minLength, maxLength, minimum, maximum, maxItems } = own
  return [
    ...ofEachType.filter(([type]) => !types.has(type)).map(([type, value]) => [`a ${type}`, value] as const),
    ...(own['type'] === 'integer' ? [['a fraction', 1.5] as const] : []),
    ...(Array.isArray(listed) && types.has('string') ? [['not listed', 'not-listed'] as const] : []),
    ...(typeof minLength === 'number' && minLength > 0 ? [['too short', ''] as const] : []),
    ...(typeof maxLength === 'number' && maxLength < 300_000 ? [['too long', 'a'.repeat(maxLength + 1)] as const] : []),
    ...(typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? [['too small', minimum - 1] as const] : []),
    ...(typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? [['too large', maximum + 1] as const] : []),
    ...(typeof maxItems === 'number' && maxItems < 10_000 ? [['too many', Array.from({ length: maxItems + 1 }, () => null)] as const] : []),
  ]
}

const ofEachType = [
  ['null', null],
  ['boolean', true],
  ['number', 1.5],
  ['string', 'text'],
  ['array', []],
  ['object', {}],
] as const

/** The types that a schema allows; null: any. */
function typesOf(schema: Schema, resolve: Resolve): ReadonlySet<string> | null {
  const { type, anyOf, oneOf, enum: listed, const: only } = resolve(schema)
  const branches = anyOf ?? oneOf
  if (Array.isArray(branches)) {
    const all = branches.map((branch: Schema) => typesOf(branch, resolve))
    return all.includes(null) ? null : new Set(all.flatMap((types) => Array.from(types ?? [])))
  }
  if (type === undefined)
    return listed === undefined && only === undefined
      ? null
      : new Set([listed, only].flat().map((value) => (value === null ? 'null' : typeof value)))
  return new Set([type].flat().map((one: unknown) => (one === 'integer' ? 'number' : (one as string))))
}
