import { failureKinds } from '../../gateway/routing/verdict.ts'
import { z } from 'zod'
import { maxPageSize } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { readCursor } from './cursor.ts'

const moment = z.iso.datetime({ offset: true })
const count = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** Comma-separated values, at most 50. */
const listField = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item).min(1).max(50))

const texts = listField(textField(255))
const statuses = listField(z.string().regex(/^[1-5]\d\d$/, 'a status code has three digits'))

/** `{"env":"prod"}`: every pair must be among a log's metadata. */
const metadataField = z
  .string()
  .max(10_000)
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue({ code: 'custom', message: 'not a JSON object' })
      return z.NEVER
    }
  })
  .pipe(z.record(textField(255), textField(2000)))

const afterField = z.string().transform((text, context) => {
  const cursor = readCursor(text)
  if (cursor !== null) return cursor
  context.addIssue({ code: 'custom', message: 'not a next_cursor of an earlier page' })
  return z.NEVER
})

/** The filters of the list of logs. Unknown ones are refused: a filter that does nothing would show too much. */
export const logFilter = z
  .strictObject({
    page_size: z.coerce.number().int().min(1).max(maxPageSize).default(50).meta({ description: 'Logs in one page.' }),
    after: afterField.optional().meta({ description: 'The `next_cursor` of the page before; absent for the first one.' }),
    order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'By time; `desc` gives the newest first.' }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug. A workspace key sees its own workspace only.' }),
    time_of_generation_min: moment.optional(),
    time_of_generation_max: moment.optional(),
    status_code: statuses.optional().meta({ description: 'Comma-separated.' }),
    ai_org: texts.optional().meta({ description: 'Provider types, e.g. `openai`, comma-separated.' }),
    ai_model: texts.optional().meta({ description: 'Comma-separated.' }),
    virtual_keys: texts.optional().meta({ description: 'Slugs of providers or virtual keys, comma-separated.' }),
    api_key_ids: listField(z.uuid()).optional().meta({ description: 'Comma-separated.' }),
    prompt_slug: texts.optional().meta({ description: 'Slugs of prompts, comma-separated.' }),
    trace_id: textField(255).optional(),
    total_units_min: count.optional().meta({ description: 'Tokens in all.' }),
    total_units_max: count.optional(),
    prompt_token_min: count.optional(),
    prompt_token_max: count.optional(),
    completion_token_min: count.optional(),
    completion_token_max: count.optional(),
    metadata: metadataField.optional().meta({ description: 'A JSON object; logs that have all its pairs.' }),
    is_success: z.stringbool().optional(),
  })
  .meta({ id: 'LogFilter', description: 'Which logs to list.' })

export type LogFilter = z.output<typeof logFilter>

export const logParams = z.object({ logId: z.string() })

const nullableText = z.string().nullable()
const nullableCount = z.number().nullable()

/** Everything about an exchange but what was said in it. Durations are whole milliseconds. */
export const logMetrics = z
  .object({
    object: z.literal('log'),
    id: z.uuid(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    workspace_slug: nullableText,
    created_at: z.iso.datetime(),
    is_success: z.boolean(),
    ai_org: nullableText.meta({ description: 'The provider type.' }),
    ai_model: nullableText,
    virtual_key: nullableText.meta({ description: 'The slug of the stored provider or virtual key.' }),
    api_key_id: z.uuid(),
    user_id: z.uuid().nullable(),
    prompt_id: z.uuid().nullable(),
    prompt_version_id: z.uuid().nullable(),
    prompt_slug: nullableText,
    req_units: nullableCount.meta({ description: 'Input tokens; null when the provider did not say.' }),
    res_units: nullableCount,
    total_units: nullableCount,
    usage_source: z.string(),
    cost: nullableCount.meta({ description: 'US dollars; null when the price is not known.' }),
    cost_currency: z.literal('USD'),
    request_url: z.string(),
    request_method: z.string(),
    operation: z.string().meta({ description: 'What was asked for; `inserted` for a log that a client inserted with `POST /v1/logs`.' }),
    is_proxy_call: z.boolean(),
    response_status_code: z.int(),
    outcome: z.enum(['complete', 'incomplete', 'client_closed', 'error']),
    error_code: nullableText,
    response_time: z.int(),
    upstream_response_time: z.int().nullable(),
    time_to_first_byte: z.int().nullable(),
    stream_mode: z.int(),
    cache_status: nullableText,
    cache_type: nullableText,
    retry_success_count: z.int(),
    last_used_option: nullableText,
    trace_id: z.string(),
    span_id: nullableText,
    parent_span_id: nullableText,
    span_name: nullableText,
    'metadata.key': z.array(z.string()),
    'metadata.value': z.array(z.string()),
    client_ip: z.string(),
    request_bytes: z.number(),
    response_bytes: z.number(),
  })
  .meta({ id: 'LogMetrics', description: 'One exchange without its bodies and headers.' })

export type LogMetrics = z.output<typeof logMetrics>

export const logList = z
  .object({
    object: z.literal('list'),
    data: z.array(logMetrics),
    has_more: z.boolean(),
    next_cursor: nullableText.meta({ description: 'Give it as `after` to get the next page.' }),
    total: z.null().meta({ description: 'Logs are never counted.' }),
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

const logAttempt = z
  .object({
    option: z.string().meta({ description: 'The place of the target in the config.' }),
    provider: nullableText,
    provider_slug: nullableText,
    model: nullableText,
    status: z.int().meta({ description: 'The status of the answer, or of the error in its place.' }),
    failure: z.enum(failureKinds).nullable().meta({ description: 'The kind of failure, if it has one.' }),
    error: nullableText.meta({ description: 'What the provider or Gatehouse said; null without an error, or if bodies are not kept.' }),
    start_ms: z.number().nullable().meta({ description: 'Milliseconds from the request to this attempt; null if it was not sent.' }),
    duration_ms: z.number().nullable(),
    response_bytes: z.number(),
  })
  .meta({ id: 'LogAttempt', description: 'One attempt of a request, at one target.' })

const hookList = z.array(z.record(z.string(), z.unknown()))

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
    hook_results: z
      .object({ before_request_hooks: hookList, after_request_hooks: hookList })
      .nullable()
      .meta({ description: 'What guardrails found before and after the call, as the answer told it; null when none ran.' }),
    attempts: z
      .array(logAttempt)
      .nullable()
      .meta({ description: 'The attempts in order, when there were several; null when there was one.' }),
    metrics: logMetrics,
    log_format: since('1.12.0', z.literal('v1')),
  })
  .meta({ id: 'LogObject', description: 'One exchange with its bodies and headers; credentials were removed before it was stored.' })
