import { isStorable } from '../../../lib/text/text.ts'
import { scimError } from '../scim-error.ts'
import { coreAttributes, findAttribute, type Attribute, type ResourceType } from './attribute.ts'

/** A resource, or a part of one, as JSON: with the names of its schema, and only these. */
export type Document = Readonly<Record<string, unknown>>

/** A text is no longer than this, and a list has no more values. */
const maxText = 4096
const maxValues = 1000

/** Returns true for an object that is no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns a client's document as one of the schema. Names count in any case, unknown ones are ignored, and so are attributes that only the server
 * writes. Identity providers send `"True"` for true, a text where its `value` belongs, and one value for a list of one. Throws `invalidValue`.
 */
export function normalise(type: ResourceType, sent: unknown): Document {
  if (!isObject(sent)) throw scimError('invalidSyntax', 'The body is a JSON object.')
  const core = partsOf(sent, coreAttributes(type), '')
  const extensions = type.extensions.flatMap(({ id, attributes }) => {
    const [, value] = Object.entries(sent).find(([name]) => name.toLowerCase() === id.toLowerCase()) ?? []
    const held = isObject(value) ? partsOf(value, attributes, `${id}:`) : {}
    return Object.keys(held).length === 0 ? [] : [[id, held] as const]
  })
  return { ...core, ...Object.fromEntries(extensions) }
}

function partsOf(sent: Record<string, unknown>, attributes: readonly Attribute[], place: string): Document {
  const found = Object.entries(sent).flatMap(([name, value]) => {
    const attribute = findAttribute(attributes, name)
    if (attribute === null || attribute.mutability === 'readOnly') return []
    const held = valueOf(attribute, value, place + attribute.name)
    return held === undefined ? [] : [[attribute.name, held] as const]
  })
  return Object.fromEntries(found)
}

/** Returns a value as its attribute has it; undefined: none. */
export function valueOf(attribute: Attribute, sent: unknown, place: string): unknown {
  if (sent === null || sent === undefined) return undefined
  if (!attribute.multiValued) return singleValue(attribute, sent, place)
  const values = Array.isArray(sent) ? sent : [sent]
  demandFew(attribute, values, place)
  const held = values.flatMap((value) => singleValue(attribute, value, place) ?? [])
  return held.length === 0 ? undefined : onePrimary(held)
}

/** Throws `invalidValue` for a list of too many values; members of a group are bounded where they are kept. */
export function demandFew({ name }: Attribute, values: readonly unknown[], place: string): void {
  if (values.length > maxValues && name !== 'members')
    throw scimError('invalidValue', `\`${place}\` has more than ${maxValues} values.`, place)
}

function singleValue(attribute: Attribute, sent: unknown, place: string): unknown {
  if (sent === null || sent === undefined) return undefined
  if (attribute.type === 'complex') return complexValue(attribute, sent, place)
  if (attribute.type === 'boolean') return booleanValue(sent, place)
  if (typeof sent === 'number' || typeof sent === 'boolean') return String(sent)
  if (typeof sent !== 'string') throw scimError('invalidValue', `\`${place}\` is a text.`, place)
  if (sent.length > maxText) throw scimError('invalidValue', `\`${place}\` is longer than ${maxText} characters.`, place)
  if (!isStorable(sent)) throw scimError('invalidValue', `\`${place}\` has a NUL character or broken Unicode.`, place)
  return sent
}

function complexValue({ subAttributes = [] }: Attribute, sent: unknown, place: string): unknown {
  const given = isObject(sent) ? sent : findAttribute(subAttributes, 'value') !== null && typeof sent === 'string' ? { value: sent } : null
  if (given === null) throw scimError('invalidValue', `\`${place}\` is an object.`, place)
  const held = partsOf(given, subAttributes, `${place}.`)
  return Object.keys(held).length === 0 ? undefined : held
}

function booleanValue(sent: unknown, place: string): boolean {
  if (typeof sent === 'boolean') return sent
  if (typeof sent === 'string' && /^(?:true|false)$/i.test(sent)) return sent.toLowerCase() === 'true'
  throw scimError('invalidValue', `\`${place}\` is true or false.`, place)
}

/** If several values claim to be the primary one, the last wins: it came last. */
function onePrimary(values: readonly unknown[]): readonly unknown[] {
  const last = values.findLastIndex(isPrimary)
  return values.map((value, at) => (isPrimary(value) && isObject(value) && at !== last ? { ...value, primary: false } : value))
}

const isPrimary = (value: unknown): boolean => isObject(value) && value['primary'] === true
