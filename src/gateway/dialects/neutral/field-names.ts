import type { NeutralError } from './error.ts'
import type { FieldNames, RequestField } from './request.ts'

/** The fields of a request by the names that one dialect gives them, in requests and in errors about them. */
export type NamedFields = ReadonlyMap<string, RequestField>

/** Returns the fields by the names of a dialect. `more`: other names that it has for them. */
export function fieldsByName(names: FieldNames, more: Readonly<Record<string, RequestField>> = {}): NamedFields {
  const found = new Map<string, RequestField>()
  for (const [field, name] of Object.entries(names)) if (isField(field, names) && !found.has(name)) found.set(name, field)
  for (const [name, field] of Object.entries(more)) found.set(name, field)
  return found
}

const isField = (name: string, names: FieldNames): name is keyof FieldNames => Object.hasOwn(names, name)

/** So much of a name is looked at: providers choose its length. */
const longest = 200

/**
 * Returns a provider's error with the client's name of the field that it is about: `generationConfig.maxOutputTokens` is `max_tokens`. A place within
 * a field is named as the field. One that the client does not have is not named.
 */
export const inClientWords = (error: NeutralError, fields: NamedFields | undefined, names: FieldNames): NeutralError =>
  error.param === null || error.param === 'model' ? error : { ...error, param: clientParam(error.param, fields, names) }

function clientParam(param: string, fields: NamedFields | undefined, names: FieldNames): string | null {
  for (let name = param.slice(0, longest); name !== ''; name = name.slice(0, Math.max(0, name.search(lastStep)))) {
    const field = fields?.get(name)
    if (field !== undefined) return names[field] ?? null
  }
  return null
}

/** The last of the steps that a place is made of: `.name` or `[0]`. */
const lastStep = /[.[][^.[]*$/
