import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** Returns the error of a field that cannot be read. */
export const unreadable = (param: string, rule: string): ApiError => new ApiError('invalid_request', `${param} must be ${rule}.`, { param })

/** Returns a field that is a text; null when it is absent or null. `at`: the place of the object, with a dot at its end. */
export function textIn(body: Fields, field: string, at = ''): string | null {
  const value = body[field] ?? null
  if (value === null || typeof value === 'string') return value
  throw unreadable(at + field, 'a string')
}

/** The same for a text that must be there. */
export function neededText(body: Fields, field: string, at = ''): string {
  const value = textIn(body, field, at)
  if (value === null) throw unreadable(at + field, 'a string')
  return value
}

export function numberIn(body: Fields, field: string, at = ''): number | null {
  const value = body[field] ?? null
  if (value === null || typeof value === 'number') return value
  throw unreadable(at + field, 'a number')
}

export function flagIn(body: Fields, field: string, at = ''): boolean | null {
  const value = body[field] ?? null
  if (value === null || typeof value === 'boolean') return value
  throw unreadable(at + field, 'true or false')
}

export function fieldsIn(body: Fields, field: string, at = ''): Fields | null {
  const value = body[field] ?? null
  if (value === null || isFields(value)) return value
  throw unreadable(at + field, 'an object')
}

const nothing: readonly unknown[] = []

/** Returns a field that is a list; an empty one when it is absent or null. */
export function listIn(body: Fields, field: string, at = ''): readonly unknown[] {
  const value = body[field] ?? null
  if (value === null) return nothing
  if (Array.isArray(value)) return value
  throw unreadable(at + field, 'a list')
}

/** Returns an item of a list, which must be an object. */
export function fieldsAt(value: unknown, at: string): Fields {
  if (isFields(value)) return value
  throw unreadable(at, 'an object')
}

/** Returns a field of an answer that is a text; null for all else: answers are read as they come. */
export const saidText = (json: Fields, field: string): string | null => {
  const value = json[field]
  return typeof value === 'string' ? value : null
}

/** Returns a field of an answer that is an object; null for all else. */
export const saidFields = (json: Fields, field: string): Fields | null => {
  const value = json[field]
  return isFields(value) ? value : null
}

/** Returns a field of an answer that is a list, with its objects only. */
export const saidList = (json: Fields, field: string): readonly Fields[] => {
  const value = json[field]
  return Array.isArray(value) ? value.filter((item) => isFields(item)) : []
}
