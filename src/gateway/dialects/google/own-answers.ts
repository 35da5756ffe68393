import { type ApiError, issuesOf } from '../../../lib/errors.ts'
import { compact } from '../compact.ts'
import type { ModelLists, OwnAnswers } from '../dialect.ts'
import { pageSize, wholeNumber } from '../page-query.ts'

function errorBody(error: ApiError) {
  const { status, message, code, param, beside } = error
  // Issues are reported in Google's form.
  const { code: number, issues: _, ...more } = error.details
  const metadata = { ...(param !== null && { param }), ...(number !== undefined && { code: number }) }
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'gatehouse', metadata },
    ...badRequest(error),
    ...retryInfo(error),
  ]
  return {
    error: { code: status, message, status: statuses[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL'), details, ...more },
    ...beside,
  }
}

/** Google's own way to state when to try again. */
const retryInfo = ({ retryAfter }: ApiError): readonly object[] =>
  retryAfter === null ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${Math.ceil(retryAfter)}s` }]

/** Google's own way of listing every fault of a request. */
function badRequest(error: ApiError): readonly object[] {
  const { issues } = issuesOf(error)
  if (issues === undefined) return []
  const fieldViolations = issues.map(({ param, code, message }) => ({ field: param, description: message, reason: code }))
  return [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }]
}

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const models: ModelLists = {
  list: (offered, query) => {
    const size = pageSize(query, 'pageSize', 50)
    const from = wholeNumber(query, 'pageToken', 0)
    const page = offered.slice(from, from + size)
    const next = from + size < offered.length ? { nextPageToken: String(from + size) } : {}
    return { models: page.map((model) => models.one(model)), ...next }
  },
  one: ({ id, name, details }) => ({
    name: `models/${id}`,
    displayName: name,
    ...compact({ inputTokenLimit: details.maxInput, outputTokenLimit: details.maxOutput, pricing: details.prices }),
    ...compact({ thinking: details.abilities?.includes('reasoning') }),
    supportedGenerationMethods: details.kind === 'embedding' ? ['embedContent'] : ['generateContent', 'countTokens'],
  }),
}

export const ownAnswers: OwnAnswers = {
  errorBody,
  errorEvent: (error) => `data: ${JSON.stringify(errorBody(error))}\r\n\r\n`,
  models,
}
