import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { AnswerContext, ClientCodec, Encoded, ProviderCodec } from './codec.ts'
import { clientCodecOf, providerCodecOf } from './codecs.ts'
import type { DialectId } from './dialect.ts'
import { refuseForeignContent } from './leftovers.ts'
import { resultsBehindCalls } from './neutral/calls-and-results.ts'
import { isIdle } from './neutral/idle.ts'
import { Loss } from './neutral/loss.ts'
import type { NeutralRequest } from './neutral/request.ts'
import { truncateTurns } from './neutral/truncate.ts'
import type { Traits } from './traits.ts'

/** A request for a conversation, as its caller wrote it. */
export interface AskedConversation {
  readonly dialect: DialectId
  readonly body: Fields
  /** The model as the provider knows it. */
  readonly model: string
  /** Whether a stream is asked for, where the path says it and not the body; null: the body says it. */
  readonly stream: boolean | null
  readonly requestId: string
  /** True if nothing may be dropped. */
  readonly strict: boolean
  /** The most tokens that the model takes, where the request asks to be made shorter than that; absent: it stays as long as it is. */
  readonly truncateTo?: number
  /** Facts of the request that its answer tells beside what the body says. */
  readonly echo?: Fields
}

/** The other end of a translated conversation. */
export interface SpokenConversation {
  readonly dialect: DialectId
  /** For messages: the provider's name. */
  readonly provider: string
  readonly traits: Traits
  /** Returns a body as this one provider of the dialect takes it, and tells of what is lost; absent: it takes all of the dialect. What the caller gives in the provider's own words stays as it is. */
  readonly bend?: (body: Fields, request: NeutralRequest, loss: Loss) => Fields
}

/** A request in its provider's words, with what its answer is read and written with. */
export interface Translation {
  readonly client: ClientCodec
  readonly provider: ProviderCodec
  readonly request: NeutralRequest
  readonly encoded: Encoded
  readonly loss: Loss
  answerContext(nowSeconds: number): AnswerContext
}

/**
 * Translates a request. Null: both speak the same dialect, so that the caller's own bytes go on, or one of them speaks none that is
 * translated. Throws `invalid_request` that names the field whose meaning would be lost.
 */
export function translate(asked: AskedConversation, spoken: SpokenConversation): Translation | null {
  const [client, provider] = [clientCodecOf(asked.dialect), providerCodecOf(spoken.dialect)]
  if (asked.dialect === spoken.dialect || client === null || provider === null) return null
  const { model, requestId } = asked
  const { traits } = spoken
  const { body, options } = optionsApart(asked.body)
  const decoded = client.request.decode(body)
  const echo = asked.echo === undefined ? decoded.echo : { ...decoded.echo, ...asked.echo }
  const whole = { ...decoded, turns: resultsBehindCalls(decoded.turns), model, echo, stream: asked.stream ?? decoded.stream }
  const request = asked.truncateTo === undefined ? whole : truncateTurns(whole, asked.truncateTo)
  const loss = new Loss({ names: client.names, provider: spoken.provider, strict: asked.strict, isIdle: (field) => isIdle(request, field) })
  for (const value of request.chosen) loss.note(value)
  refuseForeignContent(request, provider, loss)
  const written = provider.request.encode(request, { model, traits, loss })
  const encoded = spoken.bend === undefined ? written : { ...written, body: spoken.bend(written.body, request, loss) }
  return {
    client,
    provider,
    request,
    encoded: { ...encoded, body: prefixFirst(withOptions(encoded.body, options, spoken.dialect), spoken.dialect) },
    loss,
    answerContext: (now) => ({ request, memory: encoded.memory, requestId, now, model: asked.model, traits }),
  }
}

/** The fields that stay the same from one request of a conversation to the next, by all names that they have. */
const prefix = [
  'model',
  'anthropic_version',
  'instructions',
  'system',
  'systemInstruction',
  'preambleOverride',
  'tools',
  'toolConfig',
  'tool_choice',
  'toolChoice',
]

/** Returns a body that begins with what the next request repeats: caches of providers and of hosts before them keep beginnings. */
function prefixFirst(body: Fields, dialect: DialectId): Fields {
  const inner = below[dialect]
  const held = inner === undefined ? null : body[inner]
  const whole = inner !== undefined && isFields(held) ? { ...body, [inner]: ordered(held) } : body
  return ordered(whole)
}

function ordered(body: Fields): Fields {
  const first: Record<string, unknown> = {}
  for (const name of prefix) if (Object.hasOwn(body, name)) first[name] = body[name]
  return Object.assign(first, body)
}

/** Copied only where there is something to leave out: the runtime copies a body field by field. */
function optionsApart(asked: Fields): { readonly body: Fields; readonly options: unknown } {
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

/** The formats whose requests hold what a caller steers below one name. */
const below: Readonly<Partial<Record<DialectId, string>>> = { oracle: 'chatRequest', replicate: 'input', triton: 'parameters' }

/** Merges the fields that the caller gave for this dialect as they are, in place of what was translated. */
function withOptions(body: Fields, options: unknown, dialect: DialectId): Fields {
  if (options === undefined || options === null) return body
  const own = optionsFor(options, dialect, decided)
  const inner = below[dialect]
  const held = inner === undefined ? null : body[inner]
  if (inner !== undefined && isFields(held)) return { ...body, [inner]: { ...held, ...own } }
  const merged = { ...body, ...own }
  // Ollama keeps all that steers below one name, where the caller's own fields stand beside what was translated.
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

/** Returns the fields that the caller gave for a dialect. Throws `invalid_request` if one of them is `taken`, which the request itself says. */
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
    `provider_options.${key}.${taken} cannot be given: the request itself says it, and was checked by what it says.`,
    {
      param: `provider_options.${key}.${taken}`,
    },
  )
}

/** Fields by which rules for models, guardrails and limits judge a request: what stands in their place later would pass them by. */
export const decided: ReadonlySet<string> = new Set([
  'model',
  'models',
  'stream',
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
