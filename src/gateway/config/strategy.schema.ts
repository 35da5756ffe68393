import { z } from 'zod'
import { patternFault } from '../patterns/pattern-making.ts'
import { patternSize } from '../patterns/pattern-size.ts'

/** An HTTP status. */
export const status = z.int().min(100).max(599)
const statuses = z.array(status).min(1).max(100)

const scalar = z.union([z.string().max(1000), z.number(), z.boolean(), z.null()])
/** What can be larger or smaller than something. */
const ordered = z.union([z.string().max(1000), z.number()], 'It is compared with a number or a text.')
const list = z.array(scalar).min(1).max(1000)

/** A config may hold thousands of patterns, each of which is made before it is stored; they match a name, not a document. */
const largestPattern = 500

const pattern = z.string().superRefine((text, context) => {
  const fault = patternSize(text) > largestPattern ? 'repeats too much for a condition' : patternFault(text)
  if (fault !== null) context.addIssue({ code: 'custom', message: `The pattern ${fault}.` })
})

const comparison = z
  .strictObject({
    $eq: scalar.optional(),
    $ne: scalar.optional(),
    $gt: ordered.optional(),
    $gte: ordered.optional(),
    $lt: ordered.optional(),
    $lte: ordered.optional(),
    $in: list.optional(),
    $nin: list.optional(),
    $regex: pattern.optional(),
  })
  .refine((operators) => Object.keys(operators).length > 0, 'Give an operator, such as $eq.')

export type Comparison = z.output<typeof comparison>

/** What a condition may look at: two segments, so that a look-up costs nothing. */
const place = /^(?:metadata\.[^.]{1,128}|params\.[^.]{1,128}|url\.pathname)$/

/** A question to a request: `{ "metadata.plan": { "$eq": "pro" } }`, joined by `$and` and `$or`. */
export interface Query {
  readonly $and?: readonly Query[] | undefined
  readonly $or?: readonly Query[] | undefined
  readonly [place: string]: unknown
}

const query: z.ZodType<Query> = z
  .looseObject({
    get $and() {
      return z.array(query).min(1).max(100).optional()
    },
    get $or() {
      return z.array(query).min(1).max(100).optional()
    },
  })
  .superRefine((given, context) => {
    if (Object.keys(given).length === 0) context.addIssue({ code: 'custom', message: 'The query is empty.' })
    for (const [name, value] of Object.entries(given)) {
      if (name === '$and' || name === '$or') continue
      for (const issue of faultsOf(name, value)) context.addIssue({ code: 'custom', path: [name, ...issue.path], message: issue.message })
    }
  })
  .meta({ id: 'ConfigQuery', description: 'Operators on `metadata.*`, `params.*` or `url.pathname`, joined by `$and` and `$or`.' })

function faultsOf(name: string, value: unknown): readonly { readonly path: PropertyKey[]; readonly message: string }[] {
  if (!place.test(name)) return [{ path: [], message: 'A condition looks at metadata.<name>, params.<name> or url.pathname.' }]
  const parsed = z.union([scalar, comparison]).safeParse(value)
  if (parsed.success) return []
  const nearest = comparison.safeParse(value)
  return (nearest.error ?? parsed.error).issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? { path: [...issue.path, ...issue.keys.slice(0, 1)], message: 'There is no such operator.' }
      : { path: issue.path, message: issue.message },
  )
}

/** When a target is left alone because it fails. */
export const breaker = z.strictObject({
  failure_threshold: z.int().min(1).optional().meta({ description: 'So many failures open it.' }),
  failure_threshold_percentage: z.number().min(0).max(100).optional().meta({ description: 'Such a share of failures opens it.' }),
  minimum_requests: z.int().min(1).optional().meta({ description: 'It stays closed until so many requests were made.' }),
  cooldown_interval: z.int().min(30_000).optional().meta({ description: 'Milliseconds for which it stays open.' }),
  failure_status_codes: statuses.optional().meta({ description: 'What counts as a failure.' }),
})

/** How a target is chosen among several. */
export const strategy = z
  .strictObject({
    mode: z.enum(['single', 'loadbalance', 'fallback', 'conditional']).meta({ description: 'The way of choosing.' }),
    on_status_codes: statuses.optional().meta({ description: 'Which answers lead to the next target.' }),
    conditions: z
      // oxlint-disable-next-line unicorn/no-thenable -- the name of the field in every config there is
      .array(z.strictObject({ query, then: z.string().min(1).max(255) }))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Questions to a request, and the target that follows; the first that is true counts.' }),
    default: z.string().min(1).max(255).optional().meta({ description: 'The target when no condition is true.' }),
    sticky: z
      .strictObject({
        enabled: z.boolean(),
        hash_fields: z
          .array(z.string().regex(/^(?:metadata|params|headers)\.[^.]{1,128}$/, 'Name metadata.*, params.* or headers.*.'))
          .min(1)
          .max(16)
          .optional(),
        ttl: z.int().min(1).max(31_536_000).optional(),
      })
      .optional()
      .meta({ description: 'Whether requests that are alike go to the same target.' }),
    cb_config: breaker.optional().meta({ description: 'When a target is left alone because it fails.' }),
  })
  .superRefine(({ mode, conditions, default: otherwise }, context) => {
    if (mode !== 'conditional') return
    if (conditions === undefined)
      context.addIssue({ code: 'custom', path: ['conditions'], message: 'A conditional strategy needs conditions.' })
    if (otherwise === undefined) context.addIssue({ code: 'custom', path: ['default'], message: 'A conditional strategy needs a default.' })
  })

/** How often a call is tried again. */
export const retry = z.strictObject({
  attempts: z.int().min(0).max(5).optional().meta({ description: 'How often.' }),
  on_status_codes: statuses.optional().meta({ description: 'After which answers.' }),
  use_retry_after_headers: z.boolean().optional().meta({ description: 'Whether it waits as long as the provider asks for.' }),
  use_retry_after_header: z.boolean().optional().meta({ description: 'Another name of the same.' }),
})

/** Whether answers are kept, and for how many seconds. */
export const cache = z.strictObject({
  mode: z.enum(['simple', 'semantic']).meta({ description: 'The same request, or one that means the same.' }),
  max_age: z.int().min(60).max(7_776_000).optional().meta({ description: 'Seconds for which an answer is kept.' }),
})
