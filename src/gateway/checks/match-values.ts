import { z } from 'zod'
import { patternFault } from '../patterns/pattern-making.ts'
import { compilePattern } from '../patterns/pattern.ts'

/** How a value is compared with those asked for. */
export const matchTypes = ['exact', 'contains', 'containsAll', 'regex'] as const
export type MatchType = (typeof matchTypes)[number]

/** One value or several. */
export const valuesField = z.union([z.string().max(1000), z.array(z.string().max(1000)).min(1).max(100)])

export const toValues = (given: string | readonly string[]): readonly string[] => (typeof given === 'string' ? [given] : given)

/** Returns the fault of values for such a comparison, as a sentence; null when there is none. */
export function valuesFault(type: MatchType, values: readonly string[]): string | null {
  if (type === 'exact') return null
  if (values.includes('')) return 'An empty text is in every value: compare exactly, or leave it out.'
  const fault = type === 'regex' ? values.map(patternFault).find((found) => found !== null) : null
  return fault === null || fault === undefined ? null : `A pattern ${fault}.`
}

/** A comparison that is ready: a claim or a metadata value is a text, or a list of texts. */
export function matcher(type: MatchType, wanted: readonly string[]): (held: readonly string[]) => boolean {
  if (type === 'exact') return (held) => held.some((text) => wanted.includes(text))
  if (type === 'contains') return (held) => wanted.some((part) => held.some((text) => text.includes(part)))
  if (type === 'containsAll') return (held) => wanted.every((part) => held.some((text) => text.includes(part)))
  const patterns = wanted.map(compilePattern)
  return (held) => held.some((text) => patterns.some((pattern) => pattern.test(text)))
}
