import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'

/** Returns a body and its `provider_options`. Copied only where there is something to leave out: the runtime copies a body field by field. */
export function optionsApart(asked: Fields): { readonly body: Fields; readonly options: unknown } {
  if (!Object.hasOwn(asked, 'provider_options')) return { body: asked, options: undefined }
  const { provider_options: options, ...body } = asked
  return { body, options }
}

/** The names under which a caller may give fields of a provider's own, by dialect. */
const optionKeys: Readonly<Partial<Record<DialectId, readonly string[]>>> = {
  'openai-chat': ['openai', 'openai-chat'],
  'openai-responses': ['openai', 'openai-responses'],
  anthropic: ['anthropic'],
  google: ['google', 'gemini'],
  bedrock: ['bedrock'],
  cohere: ['cohere'],
  ollama: ['ollama'],
  oracle: ['oracle'],
  replicate: ['replicate'],
  'mistral-fim': ['mistral'],
  triton: ['triton'],
  'workers-ai': ['workers-ai'],
}

/** The formats whose requests hold all steering fields below one name. */
export const heldBelow: Readonly<Partial<Record<DialectId, string>>> = { oracle: 'chatRequest', replicate: 'input', triton: 'parameters' }

/** Merges the fields that the caller gave for this dialect as they are, in place of the translated ones. */
export function withOptions(body: Fields, options: unknown, dialect: DialectId): Fields {
  if (options === undefined || options === null) return body
  const own = optionsFor(options, dialect, decided)
  const inner = heldBelow[dialect]
  const held = inner === undefined ? null : body[inner]
  if (inner !== undefined && isFields(held)) return { ...body, [inner]: { ...held, ...own } }
  const merged = { ...body, ...own }
  // Ollama keeps all steering fields below one name, where the caller's own fields stand beside the translated ones.
  if (dialect !== 'ollama' || !isFields(body['options']) || !isFields(own['options'])) return merged
  return { ...merged, options: { ...body['options'], ...own['options'] } }
}

/** Returns a request for a provider of its own dialect: with the fields for that dialect in their place, and without those for others. */
export function withOwnOptions(body: Fields, dialect: DialectId): Fields {
  const { body: rest, options } = optionsApart(body)
  return withOptions(rest, options, dialect)
}

/** Returns true if a caller gives fields for a dialect. */
export const hasOptionsFor = (options: unknown, dialect: DialectId): boolean =>
  isFields(options) && (optionKeys[dialect] ?? [dialect]).some((key) => isFields(options[key]))

/** Returns the fields that the caller gave for a dialect. Throws `invalid_request` if one of them is `taken`, since the request itself has it. */
export function optionsFor(options: unknown, dialect: DialectId, taken: ReadonlySet<string>): Fields {
  if (!isFields(options)) throw badOptions('provider_options')
  const own = (optionKeys[dialect] ?? [dialect]).map((key) => optionsOf(options, key, taken))
  const merged: Record<string, unknown> = {}
  for (const fields of own) Object.assign(merged, fields)
  return merged
}

function optionsOf(options: Fields, key: string, decidedHere: ReadonlySet<string>): Fields | null {
  const own = options[key] ?? null
  if (own === null) return null
  if (!isFields(own)) throw badOptions(`provider_options.${key}`)
  const taken = Object.keys(own).find((name) => decidedHere.has(name))
  if (taken === undefined) return own
  throw new ApiError(
    'invalid_request',
    `provider_options.${key}.${taken} cannot be given: the request itself sets it, and was checked by that value.`,
    {
      param: `provider_options.${key}.${taken}`,
    },
  )
}

/** Fields by which rules for models, guardrails and limits judge a request, or its cost is known: a later replacement would bypass them. */
export const decided: ReadonlySet<string> = new Set([
  'model',
  'models',
  'stream',
  'stream_options',
  'messages',
  'system',
  'instructions',
  'input',
  'prompt',
  'message',
  'chat_history',
  'preamble',
  'contents',
  'systemInstruction',
  'system_instruction',
  'modelId',
  'chatRequest',
  'chatHistory',
  'preambleOverride',
  'toolResults',
  'isStream',
  'version',
  'system_prompt',
  'system_instruction',
  'image',
  'image_input',
  'images',
  'apiFormat',
  'text_input',
])

const badOptions = (param: string): ApiError =>
  new ApiError('invalid_request', `${param} must be an object: fields by the name of the dialect, such as {"anthropic": {"top_k": 5}}.`, {
    param,
  })
