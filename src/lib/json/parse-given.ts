import { z } from 'zod'
import { plainIssue } from './plain-issue.ts'
import { maxFaults } from './schema-faults.ts'
import { stopEarly } from './stop-early.ts'

/** The value that was read, or the faults. */
type ReadValue<T> =
  | { readonly success: true; readonly data: T; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: z.ZodError }

/** A value of more parts is looked at up to its first faults only: each fault costs a hundred times what its part does. */
const mostParts = 1000

const whole: z.core.ParseContextInternal<z.core.$ZodIssue> = { error: plainIssue, async: false }
const upToFault: z.core.ParseContextInternal<z.core.$ZodIssue> = { ...whole, abortEarly: true }

/**
 * Judges a value that comes from outside by a schema. Returns all faults of a small value, in the words of `plainIssue`, and the first of a large one.
 * In a union a list is looked at once for each form, so that a large list with faults would hold up the process for seconds.
 */
export function parseGiven<Schema extends z.ZodType>(schema: Schema, value: unknown): ReadValue<z.output<Schema>> {
  stopEarly(schema)
  const first = run(schema, value, upToFault)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value without faults is one of the schema
  if (first.issues.length === 0) return { success: true, data: first.value as z.output<Schema> }
  const { issues } = isLarge(value) ? first : run(schema, value, whole)
  const told = issues.slice(0, maxFaults).map((issue) => z.core.util.finalizeIssue(issue, whole, z.core.config()))
  return { success: false, error: new z.ZodError(told) }
}

function run(schema: z.ZodType, value: unknown, context: z.core.ParseContextInternal<z.core.$ZodIssue>): z.core.ParsePayload {
  const result = schema._zod.run({ value, issues: [] }, context)
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}

/** Returns true if a value has many parts; it looks at no more of them. */
function isLarge(root: unknown): boolean {
  const waiting = [root]
  for (let seen = 0; waiting.length > 0; seen += 1) {
    const value = waiting.pop()
    if (seen > mostParts) return true
    if (typeof value !== 'object' || value === null) continue
    for (const name in value) {
      if (waiting.length > mostParts) return true
      waiting.push(Object.getOwnPropertyDescriptor(value, name)?.value)
    }
  }
  return false
}
