import { z } from 'zod'

const cursor = z.string().min(1)
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))

/** Pages of threads' messages and of batches: specification 4.3, 4.4 and 8. */
const pageLimit = whole(1, 100)
  .optional()
  .meta({ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Page size; the provider takes 20 when absent.' })
const order = z.enum(['asc', 'desc']).optional().meta({ default: 'desc', description: 'By `created_at`.' })

export const threadMessagesQuery = z.object({
  limit: pageLimit,
  order,
  after: cursor.optional(),
  before: cursor.optional(),
  run_id: z.string().min(1).optional().meta({ description: 'Only messages that this run made.' }),
})

export const batchesQuery = z.object({ limit: pageLimit, after: cursor.optional() })

/** The provider decides the range of `limit` here: specification 4.9 gives only the default, 20. */
const jobLimit = whole(1, Number.MAX_SAFE_INTEGER).optional().meta({ type: 'integer', minimum: 1, default: 20 })
export const fineTuningQuery = z.object({ limit: jobLimit, after: cursor.optional() })

const includable = z.enum(['file_search_call.results', 'message.input_image.image_url', 'computer_call_output.output.image_url'])

export const responseQuery = z.object({ include: z.array(includable).optional() })

/** Pages of the input items of a response. */
export const inputItemsQuery = z.object({
  limit: pageLimit,
  order,
  after: cursor.optional(),
  before: cursor.optional(),
  include: z.array(includable).optional(),
})
