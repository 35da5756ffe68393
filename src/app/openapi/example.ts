import { z } from 'zod'

/** Named values of an example. */
export const fields = z.record(z.string(), z.unknown()).optional()

/** A request with its answer. The first of an operation is shown; all of them are executed by a test, in their order. */
export const example = z.object({
  operation: z.string(),
  path: fields,
  query: fields,
  headers: fields,
  body: z.unknown().optional(),
  form: fields,
  answer: z.unknown().optional(),
  type: z.string().optional(),
})

export type Example = z.output<typeof example>
