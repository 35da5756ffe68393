import { z } from 'zod'
import { metadataWith } from '../../lib/metadata.ts'
import { textField } from '../../lib/text/text.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

/** Most logs in one request. */
const mostLogs = 100

const headers = secretField(z.record(textField(255).min(1), textField(8192)))
  .refine((given) => Object.keys(given).length <= 100, 'At most 100 headers are allowed.')
  .default({})
  .meta({ description: 'The log keeps them without credentials.' })

const body = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.string()], {
    error: 'Expected an object, a list or a text: the body as it was sent.',
  })
  .meta({ description: 'Cut at `MAX_LOG_BODY_SIZE_IN_KB`.' })

const request = z.strictObject({
  url: textField(2048).min(1).meta({ description: 'Where the provider was called.' }),
  method: z
    .string()
    .regex(/^[A-Za-z]{1,16}$/, 'an HTTP method, for example `POST`')
    .default('POST'),
  provider: textField(255).optional().meta({ description: 'The provider type, e.g. `openai`; `ai_org` of the log.' }),
  headers,
  body,
})

const response = z.strictObject({
  status: z.int().min(100).max(599).default(200),
  headers,
  body,
  response_time: z.number().min(0).max(86_400_000).default(0).meta({ description: 'Milliseconds.' }),
})

const trace = textField(255).min(1).optional()

const metadata = metadataWith({ trace_id: trace, span_id: trace, parent_span_id: trace, span_name: trace }).meta({
  description: 'Texts. `trace_id`, `span_id`, `parent_span_id` and `span_name` place the log in a trace; the other pairs are its metadata.',
})

const insertedLog = z
  .strictObject({ request, response, metadata: metadata.default({}) })
  .meta({ id: 'InsertedLog', description: 'A call of a provider that did not go through the gateway.' })

export type InsertedLog = z.output<typeof insertedLog>

/** One, or up to 100 at once. */
export const insertLogsBody = z
  .union([insertedLog.transform((single) => [single]), z.array(insertedLog).min(1).max(mostLogs)])
  .meta({ id: 'InsertLogs', description: 'A call of a provider, or a list of these.' })

export const logsInserted = z
  .object({ status: z.literal('success'), message: z.string(), log_ids: z.array(z.uuid()) })
  .meta({ id: 'LogsInserted', description: 'The ids of the logs, in the order in which they were sent; they can be read a moment later.' })
