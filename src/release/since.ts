import type { z } from 'zod'
import { isVersion } from './version.ts'

/** The release mark of a schema. */
export interface Mark {
  /** The release. */
  readonly since: string
  /** The former schema; absent: there was none. */
  readonly former?: z.ZodType
}

const marks = new WeakMap<z.core.$ZodType, Mark>()
const values = new WeakMap<z.core.$ZodType, Readonly<Record<string, string>>>()

/**
 * Marks a field, a parameter, or one of the forms of a union, with the release that brought it. Below that level the frame takes it out
 * of requests, answers and the API description; with `former`, that takes its place there. Handlers then meet `undefined`.
 */
export function since<T extends z.ZodType>(release: string, schema: T, former?: z.ZodType): T {
  const marked = schema.clone()
  marks.set(marked, { since: demandVersion(release), ...(former !== undefined && { former }) })
  return marked
}

const flags = new WeakMap<z.core.$ZodType, string>()

/** Marks a field that is there while a flag is on: `OFF` takes it out of requests, answers and the API description. */
export function whileOn<T extends z.ZodType>(flag: string, schema: T): T {
  const marked = schema.clone()
  flags.set(marked, flag)
  return marked
}

/** Returns the flag of exactly this schema; null: none. */
export const flagOf = (schema: z.core.$ZodType): string | null => inherited(flags, schema) ?? null

/** Marks values of an enumeration, or texts, with the releases that brought them: `{ reset: '1.8.0' }`. */
export function valuesSince<T extends z.ZodType<string>>(releases: Readonly<Record<string, string>>, schema: T): T {
  const marked = schema.clone()
  for (const release of Object.values(releases)) demandVersion(release)
  values.set(marked, releases)
  return marked
}

/** The mark of exactly this schema; null: none. */
export const markOf = (schema: z.core.$ZodType): Mark | null => inherited(marks, schema) ?? null

/** The releases of the values of exactly this schema, by value. */
export const laterValues = (schema: z.core.$ZodType): Readonly<Record<string, string>> => inherited(values, schema) ?? {}

/** A copy with more description or more checks keeps its mark. */
function inherited<T>(of: WeakMap<z.core.$ZodType, T>, schema: z.core.$ZodType): T | undefined {
  const { parent } = schema._zod
  return of.get(schema) ?? (parent === undefined ? undefined : inherited(of, parent))
}

function demandVersion(release: string): string {
  if (isVersion(release)) return release
  throw new RangeError(`${release} is no release: write major.minor.patch`)
}
