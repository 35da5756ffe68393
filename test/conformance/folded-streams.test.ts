import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import type { Codec } from '../../src/gateway/dialects/codec.ts'
import { codecOf } from '../../src/gateway/dialects/codecs.ts'
import { foldEvents } from '../../src/gateway/dialects/neutral/answer.ts'
import type { BlockEnd, BlockStart, Citation, NeutralEvent, TokenLogprob } from '../../src/gateway/dialects/neutral/events.ts'
import { plainEnd } from '../../src/gateway/dialects/neutral/events.ts'
import { finishOf, type FinishReason } from '../../src/gateway/dialects/neutral/finish.ts'
import { noUsage } from '../../src/gateway/dialects/neutral/token-usage.ts'
import { contextFor } from '../support/dialects/laws.ts'
import { json, sse } from '../support/dialects/strict.ts'
import type { Received } from '../support/emulator/emulator.ts'
import { addressAt, type Product, startProduct } from './product.ts'

/** A stream that the official client folds equals the whole answer, in every field, from each format to each other. */
let product: Product
test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

interface Content {
  readonly citations?: readonly Citation[]
  readonly logprobs?: readonly TokenLogprob[]
  readonly end?: BlockEnd
}

/** Returns the events of a block whose text comes in pieces. */
function block(start: BlockStart, text = '', { citations = [], logprobs = [], end = plainEnd }: Content = {}): readonly NeutralEvent[] {
  return [
    { type: 'block-start', choice: 0, block: start },
    ...(text.match(/[^]{1,4}/gu) ?? []).map((piece): NeutralEvent => ({ type: 'delta', choice: 0, text: piece })),
    ...citations.map((citation): NeutralEvent => ({ type: 'citation', choice: 0, citation })),
    ...(logprobs.length > 0 ? [{ type: 'logprobs', choice: 0, tokens: logprobs } as const] : []),
    { type: 'block-end', choice: 0, end },
  ]
}
const text = (said: string, more: Content = {}) => block({ kind: 'text' }, said, more)
const reasoning = (said: string, more: Content = {}) => block({ kind: 'reasoning' }, said, more)
const call = (id: string, args: string, more: Content = {}) => block({ kind: 'tool-call', id, name: 'look', custom: false }, args, more)
const citation = (url: string, start: number | null, end: number | null): Citation => ({
  url,
  title: `About ${url}`,
  quote: null,
  start,
  end,
  bag: null,
})
const token = (said: string, logprob: number): TokenLogprob => ({ token: said, logprob, bytes: [...Buffer.from(said)], top: [] })
const signed = (value: string, redacted = false): BlockEnd => ({ signature: { origin: 'anthropic', value }, redacted })

interface Answer {
  readonly content: readonly NeutralEvent[]
  readonly finish: FinishReason
  readonly tier?: string
}
const answers: Readonly<Record<string, Answer>> = {
  'a text': { content: text('Sun ☀ in Paris.'), finish: 'stop' },
  'a text that is cut': { content: text('Sun in'), finish: 'length' },
  'a text that is kept back': { content: text('Sun'), finish: 'content-filter' },
  'two texts': { content: [...text('One. '), ...text('Two.')], finish: 'stop' },
  nothing: { content: [], finish: 'stop' },
  'an empty text': { content: text(''), finish: 'stop' },
  thoughts: { content: [...reasoning('Hm, Paris.'), ...text('Sun.')], finish: 'stop' },
  'signed thoughts': { content: [...reasoning('Hm.', { end: signed('c2ln') }), ...text('Sun.')], finish: 'stop' },
  'sealed thoughts': { content: [...reasoning('', { end: signed('c2VhbGVk', true) }), ...text('Sun.')], finish: 'stop' },
  'thoughts between texts': {
    content: [...reasoning('A.', { end: signed('QQ') }), ...text('One.'), ...reasoning('B.', { end: signed('Qg') }), ...text('Two.')],
    finish: 'stop',
  },
  'a call': { content: call('call_1', '{"city":"Paris"}'), finish: 'tool-calls' },
  'a call without arguments': { content: call('call_1', '{}'), finish: 'tool-calls' },
  'a text and two calls': {
    content: [...text('Let me see.'), ...call('call_1', '{"a":1}'), ...call('call_2', '{"b":[true,null]}')],
    finish: 'tool-calls',
  },
  'thoughts before each call': {
    content: [
      ...reasoning('A.', { end: signed('QQ') }),
      ...call('call_1', '{}'),
      ...reasoning('B.', { end: signed('Qg') }),
      ...call('call_2', '{}'),
    ],
    finish: 'tool-calls',
  },
  'a refusal': { content: block({ kind: 'refusal' }, 'I will not.'), finish: 'stop' },
  sources: {
    content: text('Sun in Paris today.', { citations: [citation('https://a.example/', 0, 3), citation('https://b.example/', 7, 12)] }),
    finish: 'stop',
  },
  'sources of the second text': {
    content: [...text('One ☀. '), ...text('Two é.', { citations: [citation('https://a.example/', 0, 3)] })],
    finish: 'stop',
  },
  'sources of a whole text': { content: text('Sun.', { citations: [citation('https://a.example/', null, null)] }), finish: 'stop' },
  'sources before a call': {
    content: [...text('Sun.', { citations: [citation('https://a.example/', 0, 3)] }), ...call('call_1', '{}')],
    finish: 'tool-calls',
  },
  'sources before their text is whole': {
    content: [
      { type: 'block-start', choice: 0, block: { kind: 'text' } },
      { type: 'delta', choice: 0, text: 'Sun ' },
      { type: 'citation', choice: 0, citation: citation('https://a.example/', null, null) },
      { type: 'citation', choice: 0, citation: citation('https://b.example/', 4, 12) },
      { type: 'delta', choice: 0, text: 'in Paris.' },
      { type: 'block-end', choice: 0, end: plainEnd },
    ],
    finish: 'stop',
  },
  'sources of a text behind thoughts': {
    content: [
      ...reasoning('Hm.'),
      ...text('One. '),
      ...reasoning('Hm.'),
      ...text('Two.', { citations: [citation('https://a.example/', 0, 3)] }),
    ],
    finish: 'stop',
  },
  'sources around a call': {
    content: [
      ...text('One.', { citations: [citation('https://a.example/', 0, 3)] }),
      ...call('call_1', '{}'),
      ...text('Two.', { citations: [citation('https://b.example/', 0, 3)] }),
    ],
    finish: 'tool-calls',
  },
  'log probabilities': { content: text('Sun.', { logprobs: [token('Sun', -0.1), token('.', -0.25)] }), finish: 'stop' },
  'a tier': { content: text('Sun.'), finish: 'stop', tier: 'priority' },
  'a picture': {
    content: [
      ...text('Here.'),
      ...block({ kind: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } }),
    ],
    finish: 'stop',
  },
}

const eventsOf = ({ content, finish, tier }: Answer): readonly NeutralEvent[] => [
  { type: 'start', id: 'answer-1', model: 'm', created: 1_760_000_000 },
  ...content,
  { type: 'usage', usage: { ...noUsage, input: 20, output: 9, cacheRead: 4, reasoning: 3 }, tier: tier ?? null },
  { type: 'finish', choice: 0, finish: finishOf(finish) },
  { type: 'end' },
]

const dialects = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const
type Id = (typeof dialects)[number]

function codec(id: Id): Codec {
  const found = codecOf(id)
  if (found === null) throw new Error(id)
  return found
}

/** Lets a provider give an answer, as a whole or as a stream. */
function answerAs(provider: Id, answer: Answer) {
  const context = contextFor(provider)
  const shown = { ...context, request: { ...context.request, reasoning: { effort: null, budget: null, enabled: true, show: true } } }
  const events = eventsOf(answer)
  return (received: Received) => {
    const streams = received.json['stream'] === true || received.url.includes(':streamGenerateContent')
    if (!streams) return json(codec(provider).answer.encode(foldEvents(events), shown))
    const encoder = codec(provider).stream.encoder(shown)
    return sse(events.flatMap((event) => encoder.event(event)).map(({ name, data }) => [name, data ?? '{}'] as const))
  }
}

const addressFor = (client: Id, provider: Id) => addressAt(product.bed, { client, provider, name: 'tools' }, true)
const parameters = { type: 'object', properties: {} }

type Talk = (provider: Id, stream: boolean) => Promise<unknown>

const chat: Talk = async (provider, stream) => {
  const { origin, key, headers, model } = addressFor('openai-chat', provider)
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model,
    messages: [{ role: 'user', content: 'Look.' }],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  }
  // The client keeps only the last piece of unknown fields.
  let thoughts = ''
  const heard = (chunk: OpenAI.ChatCompletionChunk): void => {
    const { reasoning_content: piece } = (chunk.choices[0]?.delta ?? {}) as { readonly reasoning_content?: string }
    thoughts += piece ?? ''
  }
  const told: OpenAI.ChatCompletion = stream
    ? await client.chat.completions
        .stream({ ...ask, stream: true, stream_options: { include_usage: true } })
        .on('chunk', heard)
        .finalChatCompletion()
    : await client.chat.completions.create(ask)
  const { created: _created, ...rest } = told
  return {
    ...rest,
    object: 'chat.completion',
    choices: told.choices.map(({ message, ...choice }) => {
      // The helper of streams adds its parsed values, and leaves out nulls.
      const { parsed: _, ...plain } = message as typeof message & { parsed?: unknown }
      return {
        ...choice,
        logprobs: choice.logprobs?.content?.length ? choice.logprobs.content : null,
        message: {
          ...plain,
          ...(thoughts !== '' && { reasoning_content: thoughts }),
          content: plain.content ?? '',
          refusal: plain.refusal ?? null,
          tool_calls: plain.tool_calls?.map((one) =>
            one.type === 'function' ? { id: one.id, name: one.function.name, arguments: one.function.arguments } : one,
          ),
        },
      }
    }),
  }
}

const responses: Talk = async (provider, stream) => {
  const { origin, key, headers, model } = addressFor('openai-responses', provider)
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask = {
    model,
    input: 'Look.',
    store: false,
    include: ['reasoning.encrypted_content' as const],
    tools: [{ type: 'function' as const, name: 'look', parameters, strict: null }],
  }
  const {
    output,
    id: _id,
    created_at: _created,
    output_parsed: _parsed,
    ...told
  }: OpenAI.Responses.Response & { output_parsed?: unknown } = stream
    ? await client.responses.stream({ ...ask }).finalResponse()
    : await client.responses.create(ask)
  return { ...told, output: JSON.parse(JSON.stringify(output, withoutParsed)) as unknown }
}
const withoutParsed = (key: string, value: unknown): unknown =>
  key === 'parsed' || key === 'parsed_arguments' || key === 'id' || key === 'output_parsed' ? undefined : value

const messages: Talk = async (provider, stream) => {
  const { origin, key, headers, model } = addressFor('anthropic', provider)
  const client = new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 4000,
    messages: [{ role: 'user', content: 'Look.' }],
    tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
  }
  const told = stream ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask)
  const { parsed_output: _, ...plain } = told as typeof told & { parsed_output?: unknown }
  const content = plain.content.map((one) => (one.type === 'text' ? { ...one, citations: one.citations ?? [] } : one))
  return { ...plain, content: JSON.parse(JSON.stringify(content, withoutParsed)) as unknown }
}

const google: Talk = async (provider, stream) => {
  const { origin, key, headers, model } = addressFor('google', provider)
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin, headers } })
  const ask = {
    model,
    contents: 'Look.',
    config: {
      thinkingConfig: { includeThoughts: true },
      tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: parameters }] }],
    },
  }
  if (!stream) return foldContents([await client.models.generateContent(ask)])
  return foldContents(await Array.fromAsync(await client.models.generateContentStream(ask)))
}

/** Google's client folds no stream: texts of one kind are one, and of all else the last counts. */
function foldContents(frames: readonly GenerateContentResponse[]): unknown {
  const parts: Part[] = []
  const rest = {}
  for (const { candidates = [], usageMetadata, modelVersion, responseId } of frames) {
    const [candidate] = candidates
    for (const part of candidate?.content?.parts ?? []) addPart(parts, part)
    const { content: _, ...more } = candidate ?? {}
    Object.assign(rest, more, { modelVersion, responseId }, usageMetadata && { usageMetadata })
  }
  return JSON.parse(JSON.stringify({ ...rest, parts })) as unknown
}
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  const isText = part.text !== undefined && part.thoughtSignature === undefined
  if (isText && part.text === '') return
  if (isText && last?.text !== undefined && last.thought === part.thought && last.thoughtSignature === undefined) last.text += part.text
  else parts.push({ ...part })
}

/** A whole message of chat has its thoughts, its text and its calls apart. */
const hasNoOrder: ReadonlySet<string> = new Set([
  'thoughts between texts',
  'thoughts before each call',
  'sources of a text behind thoughts',
  'sources around a call',
])
/** Anthropic alone gives a source that is of a whole block before the block has ended. */
const early = 'sources before their text is whole'
/** Anthropic's client reads the tier at the beginning, where these streams do not have it. */
const isTold = (title: string, client: Id, provider: Id): boolean =>
  (provider !== 'openai-chat' || !hasNoOrder.has(title)) &&
  (provider === 'anthropic' || title !== early) &&
  (client !== 'anthropic' || title !== 'a tier')

const talks: Readonly<Record<Id, Talk>> = { 'openai-chat': chat, 'openai-responses': responses, anthropic: messages, google }

for (const client of dialects)
  for (const provider of dialects) {
    if (client === provider) continue
    for (const [title, answer] of Object.entries(answers).filter(([name]) => isTold(name, client, provider)))
      test.serial(`${client} at ${provider}: ${title}`, async (t) => {
        product.emulator.script({ behaviour: answerAs(provider, answer) })
        const whole = await talks[client](provider, false)
        const folded = await talks[client](provider, true)
        t.deepEqual(folded, whole)
      })
  }

for (const client of ['openai-responses', 'anthropic', 'google'] as const)
  test.serial(`${client} at openai-chat: sources that stand beside the choices, as at Perplexity`, async (t) => {
    const about = { id: 'c', created: 1, model: 'm', citations: ['https://a.example/', 'https://b.example/'] }
    product.emulator.script({
      behaviour: (received) =>
        received.json['stream'] === true
          ? sse([
              [null, { ...about, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Su' }, finish_reason: null }] }],
              [
                null,
                { ...about, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'n.' }, finish_reason: 'stop' }] },
              ],
              [null, '[DONE]'],
            ])
          : json({
              ...about,
              object: 'chat.completion',
              choices: [{ index: 0, message: { role: 'assistant', content: 'Sun.' }, finish_reason: 'stop' }],
            }),
    })
    const whole = await talks[client]('openai-chat', false)
    t.regex(JSON.stringify(whole), /a\.example.*b\.example/)
    t.deepEqual(await talks[client]('openai-chat', true), whole)
  })
