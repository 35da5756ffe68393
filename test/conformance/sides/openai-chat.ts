import OpenAI from 'openai'
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { json, refusalOf, sse } from '../../support/dialects/strict.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  addressOf,
  type Ask,
  type Called,
  heardCall,
  heardOf,
  heardUrl,
  type Lines,
  type Piece,
  type ProviderSide,
  type Result,
  saidOf,
  type Say,
  type Stop,
  type Talk,
  type Talker,
} from '../talk.ts'

export type Params = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>
/** A message with the fields of compatible servers, and of Gatehouse, for thoughts. */
type Message = OpenAI.ChatCompletionMessage & { readonly reasoning_content?: string }

const dataUrl = ({ mime, data }: { readonly mime: string; readonly data: string }) => `data:${mime};base64,${data}`

const userPart = (piece: Piece): OpenAI.ChatCompletionContentPart[] => {
  if ('text' in piece) return [{ type: 'text', text: piece.text }]
  if ('image' in piece) return [{ type: 'image_url', image_url: { url: addressOf(piece.image) } }]
  if ('file' in piece) return [{ type: 'file', file: { filename: piece.file.name, file_data: dataUrl(piece.file) } }]
  if ('audio' in piece) return [{ type: 'input_audio', input_audio: { data: piece.audio.data, format: 'wav' } }]
  return []
}

const toCall = ({ id, name, args }: Called['call']) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
})

const toResult = ({ result }: Result): ChatCompletionMessageParam => ({ role: 'tool', tool_call_id: result.id, content: result.text })

function toMessages({ role, pieces }: Ask['turns'][number]): ChatCompletionMessageParam[] {
  const results = pieces.filter((piece) => 'result' in piece).map(toResult)
  if (results.length > 0) return results
  if (role === 'user') return [{ role, content: pieces.flatMap(userPart) }]
  const text = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  return [{ role, content: text, tool_calls: pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : [])) }]
}

const toParams = (ask: Ask, model: string): Params => ({
  model,
  max_completion_tokens: ask.maxTokens,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]), ...ask.turns.flatMap(toMessages)],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function' as const, function: { name, parameters: { ...parameters } } })),
  }),
  ...(ask.schema && {
    response_format: { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...ask.schema }, strict: true } },
  }),
  ...(ask.thinks && { reasoning_effort: 'medium' as const }),
  ...(ask.stop !== undefined && { stop: ask.stop }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length', tool_calls: 'tool-calls', content_filter: 'content-filter' }

function sayOf({ choices, usage }: ChatCompletion): Say {
  const [choice] = choices
  const message: Message | undefined = choice?.message
  const thought = message?.reasoning_content
  return {
    ...(thought && { thought: { text: thought, signature: '' } }),
    ...(message?.content && { text: message.content }),
    calls: (message?.tool_calls ?? []).map((call) => {
      if (call.type !== 'function') throw new Error('no function')
      return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) as Record<string, unknown> }
    }),
    stop: stops[choice?.finish_reason ?? ''] ?? ('none' as Stop),
    counts: {
      input: usage?.prompt_tokens ?? -1,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? -1,
      thought: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

/** A message without the fields that the client adds on reading. */
function ownFields(message: OpenAI.ChatCompletionMessage): OpenAI.ChatCompletionMessage {
  const { parsed: _, ...own } = message as OpenAI.ChatCompletionMessage & { readonly parsed?: unknown }
  if (own.tool_calls === undefined) return own
  const calls = own.tool_calls as readonly (OpenAI.ChatCompletionMessageFunctionToolCall & { readonly index?: number })[]
  return {
    ...own,
    tool_calls: calls.map(({ index: __, function: { name, arguments: args }, ...call }) => ({
      ...call,
      function: { name, arguments: args },
    })),
  }
}

/** OpenAI's own client, for chat completions. */
export const chatTalker = (address: Address): Talker =>
  chatTalkerOf(
    new OpenAI({ baseURL: `${address.origin}/v1`, apiKey: address.key, maxRetries: 0, defaultHeaders: address.headers }),
    address,
  )

export function chatTalkerOf(client: OpenAI, address: Address): Talker {
  const { signal } = address
  const options = signal === undefined ? {} : { signal }
  return chatTalkerBy(address, (params, stream) =>
    stream
      ? client.chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } }, options).finalChatCompletion()
      : client.chat.completions.create(params, options),
  )
}

/** A client of chats, by the way in which it asks and adds up streams. */
export function chatTalkerBy({ model, extra }: Address, ask: (params: Params, stream: boolean) => Promise<ChatCompletion>): Talker {
  const send = async (params: Params, stream: boolean): Promise<Talk> => {
    const answer = await ask(params, stream)
    const say = sayOf(answer)
    const message = answer.choices[0] && ownFields(answer.choices[0].message)
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) =>
        send({ ...params, messages: [...params.messages, ...(message === undefined ? [] : [message]), ...results.map(toResult)] }, stream),
    }
  }
  return { talk: (asked, stream) => send({ ...toParams(asked, model), ...extra }, stream) }
}

const heardPart = (role: string) => (part: OpenAI.ChatCompletionContentPart) => {
  if (part.type === 'text') return `${role} text ${part.text}`
  if (part.type === 'input_audio') return `${role} audio audio/${part.input_audio.format} ${part.input_audio.data}`
  const [kind, url] =
    part.type === 'image_url' ? ['image', part.image_url.url] : ['file', part.type === 'file' ? (part.file.file_data ?? '') : '']
  return `${role} ${kind} ${heardUrl(url)}`
}

function heardMessage(message: ChatCompletionMessageParam, names: Map<string, string>): Lines {
  const { role } = message
  const parts = (Array.isArray(message.content) ? message.content : []) as OpenAI.ChatCompletionContentPart[]
  const texts = typeof message.content === 'string' && message.content !== '' ? [{ type: 'text' as const, text: message.content }] : parts
  if (role === 'tool') return [`result ${names.get(message.tool_call_id) ?? 'of nothing'} ${texts.map(heardPart('')).join('').slice(6)}`]
  if (role === 'system' || role === 'developer') return texts.map((part) => `system ${part.type === 'text' ? part.text : part.type}`)
  const calls = role === 'assistant' ? (message.tool_calls ?? []) : []
  return [
    ...texts.map(heardPart(role)),
    ...calls.map((call) => {
      if (call.type !== 'function') return 'custom call'
      return heardCall({ id: call.id, name: call.function.name, given: call.function.arguments }, names)
    }),
  ]
}

function heard({ json: body }: Received): Lines {
  const params = body as unknown as Params
  const names = new Map<string, string>()
  const format = params.response_format
  return [
    ...params.messages.flatMap((message) => heardMessage(message, names)),
    ...heardOf({
      turns: [],
      tools: (params.tools ?? []).map((tool) =>
        tool.type === 'function'
          ? { name: tool.function.name, parameters: tool.function.parameters ?? {} }
          : { name: 'custom', parameters: {} },
      ),
      ...(format?.type === 'json_schema' && { schema: format.json_schema.schema ?? {} }),
      thinks: params.reasoning_effort !== undefined && params.reasoning_effort !== 'none',
      ...(params.stop && { stop: [params.stop].flat().join(',') }),
      maxTokens: params.max_completion_tokens ?? params.max_tokens ?? -1,
    }),
  ]
}

const finishOf = (stop: Stop) => (stop === 'stop-sequence' ? 'stop' : stop.replace('-', '_')) as ChatCompletion.Choice['finish_reason']

const usageOf = ({ counts }: Say) => ({
  prompt_tokens: counts.input,
  completion_tokens: counts.output,
  total_tokens: counts.input + counts.output,
  prompt_tokens_details: { cached_tokens: counts.cached },
  completion_tokens_details: { reasoning_tokens: counts.thought },
})

const chunk = (choices: ChatCompletionChunk['choices'], usage: ChatCompletionChunk['usage'] = null): [null, object] => [
  null,
  { id: 'c1', object: 'chat.completion.chunk', created: 5, model: 'gpt-4o', choices, usage } satisfies ChatCompletionChunk,
]

const delta = (given: ChatCompletionChunk.Choice['delta'], finish_reason: ChatCompletionChunk.Choice['finish_reason'] = null) =>
  chunk([{ index: 0, delta: given, finish_reason }])

const isStream = ({ json: body }: Received) => body['stream'] === true

/** OpenAI's API for chat completions, which does not show its models' thoughts. */
export const chatProvider: ProviderSide = {
  isStream,
  refusal: (received) => (received.url.endsWith('/chat/completions') ? refusalOf('openai', received.json) : `no ${received.url}`),
  heard,
  whole: (say) =>
    json({
      id: 'c1',
      object: 'chat.completion',
      created: 5,
      model: 'gpt-4o',
      choices: [
        {
          index: 0,
          logprobs: null,
          finish_reason: finishOf(say.stop),
          message: {
            role: 'assistant',
            content: say.text ?? null,
            refusal: null,
            ...(say.calls && { tool_calls: say.calls.map(toCall) }),
          },
        },
      ],
      usage: usageOf(say),
    } satisfies ChatCompletion),
  stream: (say, { json: body }) =>
    sse([
      delta({ role: 'assistant', content: say.text === undefined ? null : '' }),
      ...Array.from(say.text ?? '', (letter) => delta({ content: letter })),
      ...(say.calls ?? []).flatMap(({ id, name, args }, index) => [
        delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...(JSON.stringify(args).match(/.{1,5}/g) ?? []).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      delta({}, finishOf(say.stop)),
      ...((body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true ? [chunk([], usageOf(say))] : []),
      [null, '[DONE]'],
    ]),
  error: (_, message) => ({ error: { message, type: 'some_error', param: null, code: null } }),
}
