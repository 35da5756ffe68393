import { type Fields, isFields } from '../../lib/json/fields.ts'

/**
 * A job at its provider as it is noted: its path below the provider's base URL, and the facts that only its request held. A job of an API whose path
 * is known has its bare id in place of it.
 */
export interface JobReference {
  readonly path: string
  readonly facts: JobFacts
}

/** The facts of a request that no answer repeats; absent: the request had none, or the answer has them. */
export interface JobFacts {
  readonly model?: string
  /** Such as `720p`. */
  readonly size?: string
  readonly seconds?: string
  /** How many pictures it brought. */
  readonly images?: string
  /** The operation that its path asks for by POST. */
  readonly operation?: string
}

const isSafePath = (path: string): boolean => /^\/[\w./:@%-]{1,500}$/.test(path) && !path.includes('..')

/** Returns the text by which a job is noted; null: its path is none. */
export function writeReference({ path, facts }: JobReference): string | null {
  const query = new URLSearchParams(
    Object.entries(facts).filter(([, value]) => typeof value === 'string' && value.length <= 200),
  ).toString()
  return isSafePath(path) ? (query === '' ? path : `${path}?${query}`) : null
}

/** Reads the text by which a job is noted; null: it is the id of one whose path is known. */
export function readReference(text: string): JobReference | null {
  if (!text.startsWith('/')) return null
  const [path = '', query = ''] = text.split('?', 2)
  return { path, facts: Object.fromEntries(new URLSearchParams(query)) }
}

/** Returns the text of a value that a request may write as a number. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** Returns the object in a field. */
export const within = (fields: Fields, name: string): Fields => {
  const held = fields[name]
  return isFields(held) ? held : {}
}
