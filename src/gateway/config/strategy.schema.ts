import { z } from 'zod'
import { schemaFaults } from '../../lib/json/schema-faults.ts'
import { patternFaultAt } from '../patterns/pattern-making.ts'
import { patternSize } from '../patterns/pattern-size.ts'
import { failureKinds } from '../routing/verdict.ts'

/** An HTTP status. */
export const status = z.int().min(100).max(599)
const statuses = z.array(status).min(1).max(100)
/** Failures by their kind, beside statuses. */
const errorKinds = z.array(z.enum(failureKinds)).min(1).max(failureKinds.length)

const scalar = z.union([z.string().max(1000), z.number(), z.boolean(), z.null()])
/** Values that have an order. */
const ordered = z.union([z.string().max(1000), z.number()], 'It is compared with a number or a text.')
const list = z.array(scalar).min(1).max(1000)

/** A config may hold thousands of patterns, each of which is made before it is stored; they match a name, not a document. */
const largestPattern = 500

const pattern = z.string().superRefine((text, context) => {
  const fault = patternFaultAt(text, (source) => (patternSize(source) > largestPattern ? 'repeats too much for a condition' : null))
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

/** Places that a condition may look at: two segments at most, so that a look-up is cheap. */
const place = /^(?:metadata\.[^.]{1,128}|params\.[^.]{1,128}|headers\.[^.]{1,128}|url\.pathname|model|key|workspace)$/

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
  .meta({
    id: 'ConfigQuery',
    description:
      'Operators on `metadata.*`, `params.*`, `headers.*`, `url.pathname`, `model`, `key` or `workspace`, joined by `$and` and `$or`.',
  })

function faultsOf(name: string, value: unknown): readonly { readonly path: PropertyKey[]; readonly message: string }[] {
  if (!place.test(name))
    return [
      { path: [], message: 'A condition looks at metadata.<name>, params.<name>, headers.<name>, url.pathname, model, key or workspace.' },
    ]
  const parsed = z.union([scalar, comparison]).safeParse(value)
  if (parsed.success) return []
  const nearest = comparison.safeParse(value)
  return schemaFaults(nearest.error ?? parsed.error, { value, whole: '' }).map(({ path, code, message }) => ({
    path: [...path],
    message: code === 'unknown_field' ? 'There is no such operator.' : message,
  }))
}

/** When a target is left alone because it fails. */
export const breaker = z.strictObject({
  failure_threshold: z.int().min(1).optional().meta({ description: 'The number of failures that opens the breaker.' }),
  failure_threshold_percentage: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'The percentage of failures that opens the breaker.' }),
  minimum_requests: z.int().min(1).optional().meta({ description: 'The number of requests before the breaker can open.' }),
  cooldown_interval: z.int().min(30_000).optional().meta({ description: 'How many milliseconds the breaker stays open; a day at most.' }),
  failure_status_codes: statuses.optional().meta({ description: 'The status codes that count as failures.' }),
})

/** How a target is chosen among several. */
export const strategy = z
  .strictObject({
    mode: z
      .enum(['single', 'loadbalance', 'fallback', 'conditional', 'least-latency', 'least-cost'])
      .meta({ description: 'The way to choose.' }),
    on_status_codes: statuses.optional().meta({ description: 'The status codes that lead to the next target of a `fallback`.' }),
    on_errors: errorKinds.optional().meta({ description: 'The kinds of failure that lead to the next target of a `fallback`.' }),
    conditions: z
      // oxlint-disable-next-line unicorn/no-thenable -- the name of the field in every config there is
      .array(z.strictObject({ query, then: z.string().min(1).max(255) }))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Conditions, each with a target; the first true condition counts.' }),
    default: z.string().min(1).max(255).optional().meta({ description: 'The target if no condition is true.' }),
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
      .meta({ description: 'Sends similar requests to the same target.' }),
    cb_config: breaker.optional().meta({ description: 'The circuit breaker: when a failing target gets no requests for a while.' }),
  })
  .superRefine(({ mode, conditions, default: otherwise }, context) => {
    if (mode !== 'conditional') return
    if (conditions === undefined)
      context.addIssue({ code: 'custom', path: ['conditions'], message: 'A conditional strategy needs conditions.' })
    if (otherwise === undefined) context.addIssue({ code: 'custom', path: ['default'], message: 'A conditional strategy needs a default.' })
  })

/** How often a call is tried again. */
export const retry = z.strictObject({
  attempts: z.int().min(0).max(5).optional().meta({ description: 'The number of retries.' }),
  on_status_codes: statuses.optional().meta({ description: 'The status codes that are retried.' }),
  on_errors: errorKinds.optional().meta({ description: 'The kinds of failure that are retried.' }),
  use_retry_after_headers: z.boolean().optional().meta({ description: 'True: wait as long as the provider asks.' }),
  use_retry_after_header: z.boolean().optional().meta({ description: 'Another name for `use_retry_after_headers`.' }),
})

/** How many requests a mirror copies, and who pays for the copies. */
export const mirrorShare = {
  share: z.number().min(0).max(1).optional().meta({ description: 'The share of the requests that are copied, from 0 to 1; 1 by default.' }),
  billed: z.boolean().optional().meta({
    description:
      'False: copies count for the limits of their provider alone. Only stored configs may set this. By default they count for all limits and budgets, as other requests do.',
  }),
}

/** The cache of answers, and for how many seconds it keeps them. */
export const cache = z.strictObject({
  mode: z.enum(['simple', 'semantic']).meta({ description: '`simple`: the same request; `semantic`: a request with the same meaning.' }),
  max_age: z.int().min(60).max(7_776_000).optional().meta({ description: 'How many seconds an answer is kept.' }),
  similarity_threshold: z
    .number()
    .min(0.5)
    .max(1)
    .optional()
    .meta({ description: 'How alike two texts must be in the mode `semantic`: the least cosine of their vectors.' }),
  max_temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .meta({ description: 'Requests with a higher temperature are not compared by meaning.' }),
  include: z
    .array(z.enum(['tools', 'media']))
    .max(2)
    .optional()
    .meta({ description: 'Compares also requests with tools, or with images and other media, by the meaning of their text.' }),
})
