import { type ApiError, issuesOf } from '../../../lib/errors.ts'
import type { ModelLists, OwnAnswers } from '../dialect.ts'
import type { OfferedModel } from '../neutral/model.ts'
import { pageSize } from '../page-query.ts'

function errorBody(error: ApiError, requestId: string) {
  const type = errorTypes[error.status] ?? (error.status < 500 ? 'invalid_request_error' : 'api_error')
  return {
    type: 'error',
    error: { type, message: error.message, code: error.code, param: error.param, ...issuesOf(error), ...error.details },
    request_id: requestId,
    ...error.beside,
  }
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Epoch 0 is the date that Anthropic's own list gives a model without one. */
const models: ModelLists = {
  list: (offered, query) => {
    const page = pageOf(offered, query)
    const data = page.models.map((model) => models.one(model))
    return { data, has_more: page.more, first_id: page.models[0]?.id ?? null, last_id: page.models.at(-1)?.id ?? null }
  },
  one: ({ id, name, created, details }) => ({
    type: 'model',
    id,
    display_name: name,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: details.maxInput,
    max_tokens: details.maxOutput,
    capabilities: details.abilities === null ? null : writeCapabilities(details.abilities, details.input ?? []),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    pricing: details.prices,
  }),
}

const is = (supported: boolean) => ({ supported })

/** Writes abilities under Anthropic's names for them; every name is there. Abilities of its own API alone are false for other models. */
function writeCapabilities(abilities: readonly string[], input: readonly string[]): object {
  const can = (name: string) => is(abilities.includes(name))
  const [thinks, never] = [can('reasoning'), is(false)]
  return {
    batch: never,
    citations: never,
    code_execution: never,
    context_management: { ...never, clear_thinking_20251015: null, clear_tool_uses_20250919: null, compact_20260112: null },
    effort: { ...thinks, low: thinks, medium: thinks, high: thinks, max: thinks, xhigh: null },
    image_input: is(input.includes('image')),
    pdf_input: is(input.includes('pdf')),
    server_tools: { ...can('web_search'), code_execution: never, web_search: can('web_search') },
    structured_outputs: can('json_schema'),
    thinking: { ...thinks, types: { adaptive: thinks, enabled: thinks, disabled: thinks, between_tools: never } },
  }
}

function pageOf(offered: readonly OfferedModel[], query: URLSearchParams) {
  const limit = pageSize(query, 'limit', 20)
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  const rest = offered.filter(({ id }) => (after === null || id > after) && (before === null || id < before))
  const page = before === null ? rest.slice(0, limit) : rest.slice(-limit)
  return { models: page, more: rest.length > page.length }
}

export const ownAnswers: OwnAnswers = {
  errorBody,
  errorEvent: (error, requestId) => `event: error\ndata: ${JSON.stringify(errorBody(error, requestId))}\n\n`,
  models,
}
