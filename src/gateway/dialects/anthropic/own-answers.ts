import { type ApiError, issuesOf } from '../../../lib/errors.ts'
import type { ModelLists, OwnAnswers } from '../dialect.ts'
import type { OfferedModel } from '../neutral/model.ts'
import { pageSize } from '../page-query.ts'

function errorBody(error: ApiError, requestId: string) {
  const type = errorTypes[error.status] ?? (error.status < 500 ? 'invalid_request_error' : 'api_error')
  return {
    type: 'error',
    error: { type, message: error.message, code: error.code, param: error.param, ...issuesOf(error) },
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

/** Epoch 0 is what Anthropic's own list says of a model whose date it does not tell. */
const models: ModelLists = {
  list: (offered, query) => {
    const page = pageOf(offered, query)
    const data = page.models.map((model) => models.one(model))
    return { data, has_more: page.more, first_id: page.models[0]?.id ?? null, last_id: page.models.at(-1)?.id ?? null }
  },
  one: ({ id, name, created }) => ({ type: 'model', id, display_name: name, created_at: new Date(created * 1000).toISOString() }),
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
