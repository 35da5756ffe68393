import ModelClient, { type ChatCompletionsOutput, type GetChatCompletionsBodyParam, isUnexpected } from '@azure-rest/ai-inference'
import { SseReader } from '../../../src/gateway/wire/sse-events.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfAzure } from '../../support/dialects/strict-azure.ts'
import {
  type Address,
  addressOf,
  type Ask,
  type ProviderSide,
  type Result,
  type Say,
  saidOf,
  type Stop,
  type Talk,
  type Talker,
} from '../talk.ts'
import { chatProvider } from './openai-chat.ts'

type Params = GetChatCompletionsBodyParam['body']
type Message = Params['messages'][number]
/** An answer with fields outside the client's types: details of usage, and thoughts. */
interface Answer extends Omit<ChatCompletionsOutput, 'usage' | 'choices'> {
  readonly choices: readonly { readonly finish_reason: string | null; readonly message: AnswerMessage }[]
  readonly usage: ChatCompletionsOutput['usage'] & {
    readonly prompt_tokens_details?: { readonly cached_tokens: number }
    readonly completion_tokens_details?: { readonly reasoning_tokens: number }
  }
}
interface AnswerMessage {
  content: string | null
  reasoning_content?: string
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}

const toMessages = ({ role, pieces }: Ask['turns'][number]): Message[] => {
  const results = pieces.filter((piece) => 'result' in piece).map(toResult)
  if (results.length > 0) return results
  const text = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  const calls = pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  if (role === 'assistant') return [{ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
  const content = pieces.flatMap((piece): object[] => {
    if ('text' in piece) return [{ type: 'text', text: piece.text }]
    return 'image' in piece ? [{ type: 'image_url', image_url: { url: addressOf(piece.image) } }] : []
  })
  return [{ role, content } as Message]
}

const toResult = ({ result }: Result): Message => ({ role: 'tool', tool_call_id: result.id, content: result.text })

const toCall = ({ id, name, args }: NonNullable<Say['calls']>[number]) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
})

const toParams = (ask: Ask, model: string): Params => ({
  model,
  max_tokens: ask.maxTokens,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system', content: ask.system } as Message]), ...ask.turns.flatMap(toMessages)],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function' as const, function: { name, parameters: { ...parameters } } })),
  }),
  ...(ask.schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { ...ask.schema } } } }),
  ...(ask.thinks && { reasoning_effort: 'medium' }),
  ...(ask.stop !== undefined && { stop: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length', tool_calls: 'tool-calls', content_filter: 'content-filter' }

function sayOf({ choices, usage }: Answer): Say {
  const message = choices[0]?.message
  return {
    ...(message?.reasoning_content && { thought: { text: message.reasoning_content, signature: '' } }),
    ...(message?.content && { text: message.content }),
    calls: (message?.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments) as Record<string, unknown>,
    })),
    stop: stops[choices[0]?.finish_reason ?? ''] ?? ('none' as Stop),
    counts: {
      input: usage.prompt_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage.completion_tokens,
      thought: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

interface Chunk {
  readonly choices: readonly { readonly finish_reason: string | null; readonly delta: Delta }[]
  readonly usage?: Answer['usage'] | null
}
interface Delta {
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly { readonly id?: string; readonly function: { readonly name?: string; readonly arguments: string } }[]
}

/** Adds up a stream, which the client gives as bytes. */
async function gather(bytes: AsyncIterable<Buffer>): Promise<Answer> {
  const reader = new SseReader()
  const message: AnswerMessage = { content: null }
  let [reason, usage]: [string | null, Answer['usage'] | null] = [null, null]
  for await (const piece of bytes)
    for (const { data } of reader.push(piece) ?? []) {
      if (data === null || data === '[DONE]') continue
      const chunk = JSON.parse(data) as Chunk
      usage = chunk.usage ?? usage
      for (const { delta, finish_reason: finish } of chunk.choices) {
        reason = finish ?? reason
        addTo(message, delta)
      }
    }
  if (usage === null) throw new Error('the stream was cut')
  return { id: '', created: 0, model: '', choices: [{ finish_reason: reason, message }], usage }
}

function addTo(message: AnswerMessage, { content, reasoning_content: thought, tool_calls: calls = [] }: Delta): void {
  if (typeof content === 'string') message.content = (message.content ?? '') + content
  if (thought !== undefined) message.reasoning_content = (message.reasoning_content ?? '') + thought
  for (const { id, function: called } of calls) {
    const made = (message.tool_calls ??= [])
    if (id !== undefined) made.push({ id, type: 'function', function: { name: called.name ?? '', arguments: '' } })
    const last = made.at(-1)
    if (last !== undefined) last.function.arguments += called.arguments
  }
}

/** The client of Azure's model inference, which proves its emulator. */
export function azureTalker({ origin, key, model }: Address): Talker {
  const client = ModelClient(`${origin}/models`, { key }, { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } })
  const headers = { 'extra-parameters': 'pass-through' }
  const whole = async (body: Params): Promise<Answer> => {
    const answer = await client.path('/chat/completions').post({ headers, body })
    if (isUnexpected(answer)) throw new Error(answer.body.error.message)
    return answer.body
  }
  const streamed = async (params: Params): Promise<Answer> => {
    const body = { ...params, stream: true, stream_options: { include_usage: true } }
    const answer = await client.path('/chat/completions').post({ headers, body }).asNodeStream()
    if (answer.status !== '200' || answer.body === undefined) throw new Error(`status ${answer.status}`)
    return gather(answer.body as AsyncIterable<Buffer>)
  }
  const send = async (params: Params, stream: boolean): Promise<Talk> => {
    const answer = await (stream ? streamed(params) : whole(params))
    const say = sayOf(answer)
    const message = answer.choices[0]?.message
    const said = {
      role: 'assistant',
      ...(message?.content && { content: message.content }),
      ...(message?.tool_calls && { tool_calls: message.tool_calls }),
      ...(!message?.content && { content: '' }),
    } as Message
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) => send({ ...params, messages: [...params.messages, said, ...results.map(toResult)] }, stream),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask, model), stream) }
}

/** The filter results stand before and beside the content. */
const filtered = [null, { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }] as const
const thinking = (say: Say) => (say.thought === undefined ? {} : { reasoning_content: say.thought.text })
const chunkOf = (delta: object) =>
  [
    null,
    { id: 'c1', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] },
  ] as const

/** Azure's model inference: OpenAI's chats, with fields that the header allows, and thoughts where a model returns them. */
export const azureProvider: ProviderSide = {
  ...chatProvider,
  refusal: refusalOfAzure,
  whole(say, received) {
    const answer = JSON.parse(chatProvider.whole(say, received).body ?? '') as { choices: { message: object }[] }
    for (const choice of answer.choices) Object.assign(choice.message, thinking(say))
    return json(answer)
  },
  stream(say, received) {
    const { body = '' } = chatProvider.stream(say, received)
    const before = sse([filtered, ...(say.thought === undefined ? [] : [chunkOf(thinking(say))])])
    return { ...before, body: `${before.body}${body}` }
  },
  error: (_, message) => ({ error: { code: 'unknown_error', message } }),
}
