import type Anthropic from '@anthropic-ai/sdk'
import type { GenerationConfig } from '@google/genai'
import type OpenAI from 'openai'
import type { DialectId } from '../../src/gateway/dialects/dialect.ts'
import type { Operation } from '../../src/gateway/operations/operations.ts'
import { translate } from '../../src/gateway/dialects/translate.ts'
import { findProvider } from '../../src/gateway/providers/catalog.ts'
import { joinPath, withDefaults } from '../../src/gateway/providers/endpoint.ts'
import { bendingOf } from '../../src/gateway/providers/quirks.ts'
import { servingOf } from '../../src/gateway/providers/serving.ts'
import { fillTemplate } from '../../src/gateway/providers/template.ts'
import { ApiError } from '../../src/lib/errors.ts'
import type { Received } from '../support/emulator/emulator.ts'
import { providers } from './sides/index.ts'
import type { ClientId, ProviderId } from './talk.ts'

type Body = Readonly<Record<string, unknown>>

/** A field with a value that means something, and the fields without which it has no meaning. */
interface Sample {
  readonly value: unknown
  readonly beside?: Body
  /** True if it is for models that think. */
  readonly thinks?: true
}

/** A sample of each field in the official client of a format, and of fields within them. */
type Samples<Field extends string> = Readonly<Record<Field, Sample> & Record<string, Sample>>

/** A client's format: a request of which no field can be left out, and a sample of every other. */
export interface FieldClient {
  readonly title: string
  readonly dialect: DialectId
  readonly operation: Operation
  readonly least: Body
  /** By the path of the field: `generationConfig.topP`. */
  readonly samples: Readonly<Record<string, Sample>>
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const only = (value: unknown): Sample => ({ value })
const forThinkers = (value: unknown): Sample => ({ value, thinks: true })

/** The samples that clients of OpenAI's formats share. */
const chatTools = { tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }] }
const responsesTools = { tools: [{ type: 'function', name: 'weather', parameters: schema, strict: false }] }
const messagesTools = { tools: [{ name: 'weather', input_schema: schema }] }
const googleTools = { tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }] }

export const fieldClients: Readonly<Partial<Record<ClientId, FieldClient>>> = {
  'openai-chat': {
    title: "OpenAI's chat completions",
    dialect: 'openai-chat',
    operation: 'chatComplete',
    least: { messages: [{ role: 'user', content: 'Hello' }] },
    samples: {
      max_tokens: only(100),
      max_completion_tokens: only(100),
      temperature: only(0.5),
      top_p: only(0.5),
      top_k: only(40),
      stop: only(['END']),
      n: only(2),
      seed: only(7),
      frequency_penalty: only(0.5),
      presence_penalty: only(0.5),
      logit_bias: only({ '5': 10 }),
      logprobs: only(true),
      top_logprobs: { value: 3, beside: { logprobs: true } },
      tools: only(chatTools.tools),
      tool_choice: { value: 'required', beside: chatTools },
      parallel_tool_calls: { value: false, beside: chatTools },
      functions: only([{ name: 'weather', parameters: schema }]),
      function_call: { value: { name: 'weather' }, beside: { functions: [{ name: 'weather', parameters: schema }] } },
      response_format: only({ type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } }),
      reasoning_effort: forThinkers('low'),
      thinking: forThinkers({ type: 'enabled', budget_tokens: 2048 }),
      verbosity: forThinkers('low'),
      modalities: only(['text', 'audio']),
      user: only('person-1'),
      safety_identifier: only('person-1'),
      metadata: only({ a: 'b' }),
      store: only(true),
      service_tier: only('flex'),
      stream: only(true),
      stream_options: { value: { include_usage: true }, beside: { stream: true } },
      'stream_options.include_obfuscation': { value: true, beside: { stream: true } },
      cache_control: only({ type: 'ephemeral' }),
      web_search_options: only({}),
      prediction: only({ type: 'content', content: 'Hi' }),
      audio: only({ format: 'wav', voice: 'alloy' }),
      moderation: only({ model: 'omni-moderation-latest' }),
      prompt_cache_key: only('key'),
      prompt_cache_retention: only('24h'),
      prompt_cache_options: only({ mode: 'explicit' }),
    } satisfies Samples<Exclude<keyof OpenAI.ChatCompletionCreateParams, 'model' | 'messages'>>,
  },
  'openai-responses': {
    title: "OpenAI's responses",
    dialect: 'openai-responses',
    operation: 'createModelResponse',
    least: { input: 'Hello' },
    samples: {
      instructions: only('Be brief.'),
      max_output_tokens: only(100),
      temperature: only(0.5),
      top_p: only(0.5),
      top_logprobs: { value: 3, beside: { include: ['message.output_text.logprobs'] } },
      reasoning: forThinkers({ effort: 'low' }),
      'text.format': only({ type: 'json_schema', name: 'answer', schema, strict: true }),
      'text.verbosity': forThinkers('low'),
      tools: only(responsesTools.tools),
      tool_choice: { value: 'required', beside: responsesTools },
      parallel_tool_calls: { value: false, beside: responsesTools },
      include: only(['message.output_text.logprobs']),
      user: only('person-1'),
      safety_identifier: only('person-1'),
      metadata: only({ a: 'b' }),
      store: only(false),
      service_tier: only('flex'),
      stream: only(true),
      stream_options: { value: { include_obfuscation: true }, beside: { stream: true } },
      truncation: only('auto'),
      prompt_cache_options: only({ mode: 'explicit' }),
      background: only(true),
      prompt_cache_key: only('key'),
      prompt_cache_retention: only('24h'),
      access_programs: only({}),
      context_management: only([{ type: 'compaction', compact_threshold: 1000 }]),
      conversation: only('conv_1'),
      image: only({}),
      max_tool_calls: only(3),
      moderation: only({ model: 'omni-moderation-latest' }),
      previous_response_id: only('resp_1'),
      prompt: only({ id: 'pmpt_1' }),
    } satisfies Samples<Exclude<keyof OpenAI.Responses.ResponseCreateParams, 'model' | 'input' | 'text'>>,
  },
  completions: {
    title: "OpenAI's completions",
    dialect: 'completions',
    operation: 'complete',
    least: { prompt: 'Hello' },
    samples: {
      max_tokens: only(100),
      temperature: only(0.5),
      top_p: only(0.5),
      top_k: only(40),
      stop: only(['END']),
      n: only(2),
      best_of: only(3),
      seed: only(7),
      frequency_penalty: only(0.5),
      presence_penalty: only(0.5),
      logit_bias: only({ '5': 10 }),
      logprobs: only(2),
      echo: only(true),
      suffix: only('!'),
      user: only('person-1'),
      stream: only(true),
      stream_options: { value: { include_usage: true }, beside: { stream: true } },
      'stream_options.include_obfuscation': { value: true, beside: { stream: true } },
    } satisfies Samples<Exclude<keyof OpenAI.CompletionCreateParams, 'model' | 'prompt'>>,
  },
  anthropic: {
    title: "Anthropic's Messages",
    dialect: 'anthropic',
    operation: 'messages',
    least: { max_tokens: 4000, messages: [{ role: 'user', content: 'Hello' }] },
    samples: {
      system: only('Be brief.'),
      max_tokens: only(100),
      stop_sequences: only(['END']),
      temperature: only(0.5),
      top_p: only(0.5),
      top_k: only(40),
      tools: only(messagesTools.tools),
      tool_choice: { value: { type: 'any' }, beside: messagesTools },
      'tool_choice.disable_parallel_tool_use': { value: true, beside: { ...messagesTools, tool_choice: { type: 'auto' } } },
      thinking: forThinkers({ type: 'enabled', budget_tokens: 2048 }),
      'output_config.effort': forThinkers('low'),
      'output_config.format': only({ type: 'json_schema', schema }),
      output_format: only({ type: 'json_schema', schema }),
      metadata: only({ user_id: 'person-1' }),
      'metadata.user_id': only('person-1'),
      service_tier: only('standard_only'),
      stream: only(true),
      cache_control: only({ type: 'ephemeral' }),
      container: only('c1'),
      diagnostics: only({}),
      inference_geo: only('eu'),
      speed: only('fast'),
      user_profile_id: only('profile'),
      workspace_id: only('workspace'),
    } satisfies Samples<Exclude<keyof Anthropic.MessageCreateParams, 'model' | 'messages' | 'output_config'>>,
  },
  google: {
    title: "Google's `generateContent`",
    dialect: 'google',
    operation: 'chatComplete',
    least: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    samples: {
      systemInstruction: only({ parts: [{ text: 'Be brief.' }] }),
      tools: only(googleTools.tools),
      toolConfig: { value: { functionCallingConfig: { mode: 'ANY' } }, beside: googleTools },
      'toolConfig.functionCallingConfig': { value: { mode: 'ANY' }, beside: googleTools },
      labels: only({ a: 'b' }),
      serviceTier: only('flex'),
      store: only(true),
      safetySettings: only([{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]),
      cachedContent: only('cachedContents/a'),
      'generationConfig.temperature': only(0.5),
      'generationConfig.topP': only(0.5),
      'generationConfig.topK': only(40),
      'generationConfig.maxOutputTokens': only(100),
      'generationConfig.stopSequences': only(['END']),
      'generationConfig.seed': only(7),
      'generationConfig.presencePenalty': only(0.5),
      'generationConfig.frequencyPenalty': only(0.5),
      'generationConfig.candidateCount': only(2),
      'generationConfig.responseLogprobs': only(true),
      'generationConfig.logprobs': { value: 3, beside: { generationConfig: { responseLogprobs: true } } },
      'generationConfig.responseMimeType': only('application/json'),
      'generationConfig.responseSchema': {
        value: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
        beside: { generationConfig: { responseMimeType: 'application/json' } },
      },
      'generationConfig.responseJsonSchema': { value: schema, beside: { generationConfig: { responseMimeType: 'application/json' } } },
      'generationConfig._responseJsonSchema': { value: schema, beside: { generationConfig: { responseMimeType: 'application/json' } } },
      'generationConfig.thinkingConfig': forThinkers({ thinkingBudget: 2048, includeThoughts: true }),
      'generationConfig.responseModalities': only(['TEXT', 'AUDIO']),
      'generationConfig.mediaResolution': only('MEDIA_RESOLUTION_LOW'),
      'generationConfig.speechConfig': only({ languageCode: 'en' }),
      'generationConfig.responseFormat': only([{ text: { mimeType: 'application/json', schema } }]),
      'generationConfig.audioTranscriptionConfig': only({}),
      'generationConfig.audioTimestamp': only(true),
      'generationConfig.enableAffectiveDialog': only(true),
      'generationConfig.enableEnhancedCivicAnswers': only(true),
      'generationConfig.modelSelectionConfig': only({}),
      'generationConfig.routingConfig': only({}),
      'generationConfig.translationConfig': only({}),
    } satisfies Samples<`generationConfig.${keyof GenerationConfig}`>,
  },
}

/**
 * The outcome of a field. `as it is`: both have one format. `carried`: it has the same name there. `in other words`: the provider has other words for
 * it. `adapted`: it got another value, which is named. `dropped`: it is left out and named. `refused`: a 400. `answered here`: Gatehouse does it
 * itself.
 */
export type Fate = 'as it is' | 'carried' | 'in other words' | 'adapted' | 'dropped' | 'refused' | 'answered here'

/** Returns a body with a value at a path. */
export function withValue(body: Body, [name = '', ...rest]: readonly string[], value: unknown): Body {
  return { ...body, [name]: rest.length === 0 ? value : withValue(Object(body[name] ?? {}) as Body, rest, value) }
}

const valueAt = (body: Body, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at === undefined || at === null ? undefined : Reflect.get(Object(at), name)), body)

interface Translated {
  readonly text: string
  readonly body: Body
  readonly dropped: readonly string[]
  /** The request as the provider gets it. */
  readonly received: Received
}

interface Asked {
  readonly client: ClientId
  readonly id: ProviderId
  /** True for a model that thinks. */
  readonly thinks?: boolean
}

export function formatOf(client: ClientId): FieldClient {
  const format = fieldClients[client]
  if (format === undefined) throw new Error('no such client')
  return format
}

/** Headers that one or another provider wants. */
const headersAt = (row: string) => ({
  authorization: row === 'oracle' ? 'Signature version="1",keyId="ocid1.tenancy.oc1..t/u/f"' : 'AWS4-HMAC-SHA256 Credential=a',
  'api-key': 'k',
  'anthropic-version': '2023-06-01',
  'content-type': 'application/json',
})

/** Translates a request to the dialect of a provider. Null: it is asked in the caller's own. Throws the caller's 400. */
export function translated({ client, id, thinks = false }: Asked, body: Body): Translated | null {
  const { dialect, operation } = formatOf(client)
  const { row, fields, base, model, thinker = model, modelFor, extraFor } = providers[id]
  const provider = findProvider(row)
  if (provider === null) throw new Error('no row')
  const options = extraFor?.[client]?.['provider_options']
  const asked = modelFor?.[client]?.replace(/^@[^/]+\//, '') ?? (thinks ? thinker : model)
  const serving = servingOf(provider, { operation, dialect, model: asked, fields: withDefaults(provider, fields), options })
  if (serving === null || serving.dialect === dialect) return null
  const found = translate(
    { dialect, body: { model: asked, ...body }, model: serving.model ?? asked, stream: null, requestId: 'request-1', strict: false },
    { dialect: serving.dialect, provider: row, traits: serving.traits, ...bendingOf(provider.quirks) },
  )
  if (found === null) return null
  const { request, loss, encoded } = found
  const sent = encoded.body
  const template = request.stream ? serving.streamPath : serving.path
  const url = fillTemplate(joinPath(base, template), { ...withDefaults(provider, fields), model: serving.model ?? asked })
  return {
    body: sent,
    text: JSON.stringify([sent, encoded.headers, request.stream]),
    dropped: loss.dropped,
    received: { method: 'POST', url, headers: headersAt(row), json: JSON.parse(JSON.stringify(sent)) as Body } as unknown as Received,
  }
}

/** Returns the outcome of a field of a client's format at a provider. */
export function fateOf(client: ClientId, id: ProviderId, name: string): Fate {
  const format = formatOf(client)
  const sample = format.samples[name]
  if (sample === undefined) throw new Error('no sample')
  const asked = { client, id, thinks: sample.thinks === true }
  const path = name.split('.')
  const least = { ...format.least, ...sample.beside }
  const before = refusalOr(() => translated(asked, least))
  const after = refusalOr(() => translated(asked, withValue(least, path, sample.value)))
  if (before === 'refused' || after === 'refused') return 'refused'
  if (before === null || after === null) return 'as it is'
  const isNamed = after.dropped.some((one) => !before.dropped.includes(one))
  if (after.text === before.text) return isNamed ? 'dropped' : 'answered here'
  if (isNamed) return 'adapted'
  return JSON.stringify(valueAt(after.body, path)) === JSON.stringify(sample.value) ? 'carried' : 'in other words'
}

/** Returns the result of a translation, or the caller's 400. */
export function refusalOr<T>(make: () => T): T | 'refused' {
  try {
    return make()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return 'refused'
    throw error
  }
}
