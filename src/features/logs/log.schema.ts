import { failureKinds } from '../../gateway/ports/routing.ts'
import { z } from 'zod'
import { maxPageSize } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { logCost } from './cost.schema.ts'
import { readCursor } from './cursor.ts'
import { logMetrics } from './log-fields.ts'
import { valueFilters } from './log-filters.ts'

const moment = z.iso.datetime({ offset: true })

const afterField = z.string().transform((text, context) => {
  const cursor = readCursor(text)
  if (cursor !== null) return cursor
  context.addIssue({ code: 'custom', message: 'not a next_cursor of an earlier page' })
  return z.NEVER
})

/** The filters of the list of logs. Unknown ones are refused: a filter without effect would show too much. */
export const logFilter = z
  .strictObject({
    page_size: z.coerce.number().int().min(1).max(maxPageSize).default(50).meta({ description: 'Logs in one page.' }),
    after: afterField.optional().meta({ description: 'The `next_cursor` of the page before; absent for the first one.' }),
    order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'The order by time; `desc` gives the newest first.' }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug. A workspace key sees its own workspace only.' }),
    time_of_generation_min: moment.optional(),
    time_of_generation_max: moment.optional(),
    ...valueFilters,
  })
  .meta({ id: 'LogFilter', description: 'Which logs to list.' })

export type LogFilter = z.output<typeof logFilter>

/** The parameters of the list of logs. */
export const logQuery = logFilter
  .extend({
    q: textField(500).min(2).optional().meta({
      description:
        'A text in the body of the request or the answer, in any case. It needs the scope `logs.view`. Bodies are read one after the other for a second and a half at most: `search` states how far, and the page can be empty while `has_more` is true. Give it a time or other filters.',
    }),
  })
  .extend({
    match: z.enum(['text', 'words']).default('text').meta({
      description:
        'How `q` is looked for: `text` anywhere in a body, `words` as whole words that come one after the other. With `LOG_SEARCH_INDEX=on` words are found by an index, and in bodies that are sealed or in the log store too.',
    }),
  })
  .meta({ id: 'LogQuery', description: 'Which logs to list.' })

export const logParams = z.object({
  logId: z.string().meta({
    description: 'Its id; since 1.5.1 also the key of its object in the log store, in either path format, with `%2F` for each slash.',
  }),
})

const nullableText = z.string().nullable()

export const logList = z
  .object({
    object: z.literal('list'),
    data: z.array(logMetrics),
    has_more: z.boolean(),
    next_cursor: nullableText.meta({ description: 'Give it as `after` to get the next page.' }),
    total: z.null().meta({ description: 'Logs are never counted.' }),
    search: z
      .object({
        read: z.int().meta({ description: 'Logs whose bodies were looked at for this page.' }),
        unreadable: z.int().meta({ description: 'Logs that were passed over: their bodies are sealed or in the log store.' }),
        index: z
          .object({
            from: z.iso.datetime().nullable().meta({
              description: 'The index has all logs from then on; null: all that there are. Earlier ones are read one after the other.',
            }),
          })
          .nullable()
          .meta({ description: 'The answer of the index of words; null: bodies are read one after the other.' }),
        until: z.iso.datetime().nullable().meta({ description: 'The time of the log that was looked at last; null: all were.' }),
      })
      .nullable()
      .meta({ description: 'How far a search for `q` has come; null without `q`.' }),
  })
  .meta({ id: 'LogList', description: 'A page of logs.' })

const bodyFields = {
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
  body_encoding: z
    .enum(['json', 'text', 'base64'])
    .nullable()
    .meta({ description: 'How `body` stands here; `base64` for bytes that are no text, null when none was kept.' }),
  body_truncated: z.boolean(),
}

const units = z.number().nullable().optional()

export const logAttempt = z
  .object({
    option: z.string().meta({ description: 'The place of the target in the config.' }),
    provider: nullableText,
    provider_slug: nullableText,
    model: nullableText,
    status: z.int().meta({ description: 'The status of the answer, or of the error in its place.' }),
    failure: z.enum(failureKinds).nullable().meta({ description: 'The kind of failure, if it has one.' }),
    error: nullableText.meta({
      description: 'The message of the provider or of Gatehouse; null without an error, or if bodies are not kept.',
    }),
    start_ms: z.number().nullable().meta({ description: 'Milliseconds from the request to this attempt; null if it was not sent.' }),
    duration_ms: z.number().nullable(),
    response_bytes: z.number(),
    req_units: units.meta({ description: 'Input tokens, also of an answer that was given up for another target.' }),
    res_units: units,
    total_units: units,
    opened_ms: z.number().optional().meta({
      description:
        'Milliseconds after which the headers of the stream went to the client before any content, because `STREAM_OPENS_AFTER` was over; absent if content came before.',
    }),
  })
  .meta({ id: 'LogAttempt', description: 'One attempt of a request, at one target.' })

const hookList = z.array(z.record(z.string(), z.unknown()))

export const loggedHookResults = z.object({ before_request_hooks: hookList, after_request_hooks: hookList }).nullable()

export const logObject = z
  .object({
    _id: z.uuid(),
    object: z.literal('log'),
    organisation_id: z.uuid(),
    created_at: z.iso.datetime(),
    request: z.object({
      url: z.string(),
      method: z.string(),
      serviceHeaders: z
        .record(z.string(), z.string())
        .meta({ description: 'How the caller addressed and traced the request: its `x-service-*` headers without credentials.' }),
      ...bodyFields,
    }),
    response: z.object({ status: z.int(), responseTime: z.int(), lastUsedOptionJsonPath: z.string(), ...bodyFields }),
    hook_results: loggedHookResults.meta({
      description: 'The results of guardrails before and after the call, as the answer showed them; null when none ran.',
    }),
    attempts: z.array(logAttempt).nullable().meta({
      description:
        'The attempts in order, when there were several, or when the headers of a stream went out before its content; null else.',
    }),
    translation: z
      .object({ dropped_params: z.array(z.string()), provider_error: z.string().nullable() })
      .nullable()
      .meta({
        description: 'The losses of the translation of the request, and the error of the provider in its own words; null without either.',
      }),
    cost: logCost.meta({ description: 'The cost of the request, as `GET /logs/{id}/cost` shows it.' }),
    metrics: logMetrics,
    log_format: since('1.12.0', z.literal('v1')),
  })
  .meta({ id: 'LogObject', description: 'One exchange with its bodies and headers; credentials were removed before it was stored.' })
