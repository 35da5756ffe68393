import { ApiError } from '../../lib/errors.ts'
import type { CallerDialect } from '../front/match.ts'
import type { OfferedModel } from './offered-models.ts'

/** The list of models, and one of them, as the clients of a dialect read them. */
interface Shape {
  readonly list: (models: readonly OfferedModel[], query: URLSearchParams) => object
  readonly one: (model: OfferedModel) => object
}

const openai: Shape = {
  list: (models) => ({ object: 'list', data: models.map((model) => openai.one(model)) }),
  one: ({ id, created, provider }) => ({ id, object: 'model', created, owned_by: provider }),
}

/** Epoch 0 is what Anthropic's own list says of a model whose date it does not tell. */
const anthropic: Shape = {
  list: (models, query) => {
    const page = anthropicPage(models, query)
    const data = page.models.map((model) => anthropic.one(model))
    return { data, has_more: page.more, first_id: page.models[0]?.id ?? null, last_id: page.models.at(-1)?.id ?? null }
  },
  one: ({ id, name, created }) => ({ type: 'model', id, display_name: name, created_at: new Date(created * 1000).toISOString() }),
}

const google: Shape = {
  list: (models, query) => {
    const size = pageSize(query, 'pageSize', 50)
    const from = whole(query, 'pageToken', 0)
    const page = models.slice(from, from + size)
    const next = from + size < models.length ? { nextPageToken: String(from + size) } : {}
    return { models: page.map((model) => google.one(model)), ...next }
  },
  one: ({ id, name }) => ({ name: `models/${id}`, displayName: name, supportedGenerationMethods: ['generateContent', 'countTokens'] }),
}

export const modelShapes: Readonly<Record<CallerDialect, Shape>> = { openai, responses: openai, anthropic, google }

function anthropicPage(models: readonly OfferedModel[], query: URLSearchParams) {
  const limit = pageSize(query, 'limit', 20)
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  const rest = models.filter(({ id }) => (after === null || id > after) && (before === null || id < before))
  const page = before === null ? rest.slice(0, limit) : rest.slice(-limit)
  return { models: page, more: rest.length > page.length }
}

/** Nobody is given more at once. */
const pageSize = (query: URLSearchParams, name: string, fallback: number): number =>
  Math.min(Math.max(whole(query, name, fallback), 1), 1000)

function whole(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name) ?? ''
  if (text === '') return fallback
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ApiError('invalid_request', `${name} must be a whole number, not ${JSON.stringify(text.slice(0, 20))}.`, { param: name })
}
