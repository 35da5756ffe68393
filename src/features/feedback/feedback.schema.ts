import { z } from 'zod'
import { isStorableJson, textField } from '../../lib/text/text.ts'

const value = z.int().min(-10).max(10)
const weight = z.number().min(0).max(1)
const metadata = z
  .record(z.string().max(255), z.unknown())
  .refine((given) => isStorableJson(given) && JSON.stringify(given).length <= 10_000, 'At most 10000 characters as JSON, without NUL.')

const feedback = z.strictObject({
  trace_id: textField(255).min(1).meta({ description: 'The trace id of the requests that it is about.' }),
  value,
  weight: weight.default(1),
  metadata: metadata.default({}),
})

/** One, or up to 100 at once. */
export const createFeedbackBody = z
  .union([feedback.transform((single) => [single]), z.array(feedback).min(1).max(100)])
  .meta({ id: 'CreateFeedback', description: 'A rating of the answers of a trace, from -10 to 10; or a list of ratings.' })

export const updateFeedbackBody = z
  .strictObject({
    value,
    weight: weight.optional(),
    metadata: metadata.nullable().optional(),
    feedback_id: z.string().optional().meta({ description: 'Clients send it along; the path names the resource.' }),
  })
  .meta({ id: 'UpdateFeedback', description: 'The new value; weight and metadata stay when they are absent.' })

export const feedbackParams = z.object({ id: z.string() })

export const feedbackSaved = z
  .object({ status: z.literal('success'), message: z.string(), feedback_ids: z.array(z.uuid()) })
  .meta({ id: 'FeedbackSaved', description: 'The ids under which it can be changed.' })
