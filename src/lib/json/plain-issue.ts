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

/**
 * Says of a value of the wrong type what is expected, in words of JSON; what came instead is told beside it. Of a key, what is wrong
 * with it. Undefined: as the schema says.
 */
export function plainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message
  const kind = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined
  return kind === undefined ? undefined : `expected ${kind}`
}

/** A sentence as a part of another one. */
export const withoutFullStop = (sentence: string): string => sentence.replace(/\.$/, '')
