import type { z } from 'zod'

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  url: 'a URL',
  datetime: 'a date and time such as 2026-01-15T09:30:00Z',
}

const units: Readonly<Record<string, string>> = { array: 'item', set: 'item', string: 'character' }

/**
 * Describes the expected value, in terms of JSON, for a value that does not fit; the caller adds the value that came instead. For a key, describes
 * its fault. Undefined: the message of the schema stands.
 */
export function plainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message
  if (issue.code === 'invalid_type') return expected([issue.expected], kinds)
  if (issue.code === 'invalid_format') return expected([issue.format], formats)
  if (issue.code === 'invalid_value') return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
  if (issue.code === 'invalid_union') return plainUnion(issue.errors)
  if (issue.code === 'too_big') return bounded(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')
  if (issue.code === 'too_small') return bounded(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')
  return undefined
}

/** Describes a value that would fit one form of a union; undefined when the forms have no types to name. */
export function plainUnion(errors: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const types = errors.flatMap(([first]) => (first?.code === 'invalid_type' && first.path.length === 0 ? [first.expected] : []))
  return types.length < errors.length ? undefined : expected(types, kinds)
}

function expected(names: readonly string[], words: Readonly<Record<string, string>>): string | undefined {
  const known = [...new Set(names.flatMap((name) => words[name] ?? []))]
  return known.length === 0 ? undefined : `expected ${known.join(' or ')}`
}

interface Bound {
  readonly origin: string
  readonly exact?: boolean | undefined
}

function bounded({ origin, exact }: Bound, bound: number | bigint, relation: string): string {
  const unit = units[origin]
  if (unit === undefined) return `must be ${relation} ${bound}`
  return `must have ${exact === true ? 'exactly' : relation} ${bound} ${unit}${bound === 1 ? '' : 's'}`
}

/** A sentence as a part of another one. */
export const withoutFullStop = (sentence: string): string => sentence.replace(/\.$/, '')
