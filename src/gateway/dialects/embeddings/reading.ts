import { isFields } from '../../../lib/json/fields.ts'
import type { TaskContext } from '../tasks/task.ts'
import type { EmbeddingRequest, Purpose } from './neutral.ts'

/** Returns a list of vectors; null when it is none. */
export function vectorsIn(value: unknown): readonly (readonly number[])[] | null {
  if (!Array.isArray(value)) return null
  const vectors = value.map(vectorIn)
  return vectors.every((one) => one !== null) ? vectors : null
}

/** Returns a vector, also one of which a provider gives the bytes of its floats; null when it is none. */
export function vectorIn(value: unknown): readonly number[] | null {
  if (typeof value === 'string') return floatsOf(value)
  return Array.isArray(value) && value.every((number): number is number => typeof number === 'number') ? value : null
}

/** Returns the numbers of little-endian floats in base64. */
function floatsOf(base64: string): readonly number[] | null {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
}

/** Returns the field of an object of an answer. */
export const memberOf = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined)

/** Drops fields without a place at a provider: those that are not read, and those of its own that it does not name. */
export function dropRest({ rest, title, names }: EmbeddingRequest, { loss }: TaskContext, keepsTitle = false): void {
  for (const name of Object.keys(rest)) loss.dropAt(name)
  if (title !== null && !keepsTitle) loss.dropAt(names.title)
}

/** Returns a vendor's word for a purpose; null when none is asked for, or it has none, which is reported as a loss. */
export function purposeFor(
  { purpose, names }: EmbeddingRequest,
  words: Readonly<Partial<Record<Purpose, string>>>,
  { loss }: TaskContext,
): string | null {
  if (purpose === null) return null
  const word = words[purpose] ?? null
  if (word === null) loss.dropAt(names.purpose)
  return word
}

/** Refuses a length of vectors where it cannot be chosen: vectors of another length fit no index. */
export function refuseDimensions({ dimensions, names }: EmbeddingRequest, { loss }: TaskContext): void {
  if (dimensions !== null) loss.refuseAt(names.dimensions, 'has no counterpart for this model')
}
