import { z } from 'zod'
import { logAttempt, loggedHookResults } from '../logs/index.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

/** Headers by which the caller would be another, or by which the bytes of the body would be read in another way. */
const notHere =
  /^(?:authorization|x-api-key|api-key|x-goog-api-key|.*-api-key|content-length|content-encoding|transfer-encoding|host|connection)$/i

function headerFault(name: string, value: string): string | null {
  if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name)) return 'This is no name of a header.'
  if (notHere.test(name)) return 'The request is that of the key that asks: leave credentials and framing out.'
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? null : 'A header holds printable characters only.'
}

/** Headers that a caller gives to a request in place of those that it had. */
export const requestHeaders = secretField(z.record(z.string(), z.string().max(131_072)))
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const fault = headerFault(name, value)
      if (fault !== null) context.addIssue({ code: 'custom', path: [name], message: fault })
    }
  })
  .default({})

export const explainBody = z
  .strictObject({
    log_id: z
      .uuid()
      .optional()
      .meta({ description: 'The log of the request to explain, as it would go today; in place of `method`, `path` and `body`.' }),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional().meta({ description: '`POST` by default.' }),
    path: z
      .string()
      .max(4096)
      .regex(/^\/(?!v1\/)[\x21-\x7e]*$/, 'Give the path below /v1, such as /chat/completions.')
      .optional()
      .meta({ description: 'Path and query below `/v1`; needed without `log_id`.' }),
    headers: requestHeaders.meta({
      description: 'The headers of the request, without its credential; with `log_id` in place of those that were logged.',
    }),
    body: z.record(z.string(), z.unknown()).optional().meta({ description: 'The JSON body of the request, an object.' }),
  })
  .superRefine(({ log_id: logId, method, path, body }, context) => {
    if (logId === undefined && path === undefined)
      context.addIssue({ code: 'custom', path: ['path'], message: 'Give the path below /v1, such as /chat/completions, or a log_id.' })
    for (const [name, value] of Object.entries({ method, path, body }))
      if (logId !== undefined && value !== undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'The log says this already: leave it or log_id out.' })
  })
  .meta({ id: 'ExplainRequest', description: 'A request to the data plane, as it would be sent.' })

/** The end of a logged request. */
const past = z
  .object({
    id: z.uuid(),
    created_at: z.iso.datetime(),
    status: z.int(),
    outcome: z.string(),
    error_code: z.string().nullable(),
    config: z.object({ slug: z.string(), version: z.int() }).nullable(),
    provider_slug: z.string().nullable(),
    model: z.string().nullable(),
    option: z.string().nullable().meta({ description: 'The place in the config of the target that answered.' }),
    cache_status: z.string().nullable(),
    attempts: z.array(logAttempt).nullable(),
    hook_results: loggedHookResults,
  })
  .meta({ description: 'The outcome of the logged request.' })

const judged = z.object({ option: z.string(), result: z.boolean().nullable(), target: z.string() })

export const explanation = z
  .looseObject({
    object: z.literal('explanation'),
    operation: z.string(),
    logged: past.optional().meta({ description: 'With `log_id`: the outcome of the request.' }),
    answered_by: z.enum(['gatehouse', 'provider']),
    config: z.object({ slug: z.string().nullable(), version: z.int().nullable(), source: z.enum(['request', 'stored']) }).nullable(),
    conditions: z.array(judged).meta({ description: 'The conditions of the config, with their results; null: it could not be judged.' }),
    targets: z.array(z.looseObject({ option: z.string(), reason: z.string() })).meta({
      description: 'The targets in the order in which they would be tried, each with the request that it would be sent.',
    }),
  })
  .meta({ id: 'Explanation', description: 'The way of a request through the gateway.' })
