import { Mistral } from '@mistralai/mistralai'
import type { ChatCompletionRequest, ChatCompletionResponse, CompletionEvent, ContentChunk } from '@mistralai/mistralai/models/components'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfMistral } from '../../support/dialects/strict-mistral.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  addressOf,
  type Ask,
  heardCall,
  heardOf,
  heardUrl,
  type Lines,
  type Piece,
  type ProviderSide,
  saidOf,
  type Say,
  type Stop,
  type Talk,
  type Talker,
  thoughtLine,
} from '../talk.ts'

type Message = ChatCompletionRequest['messages'][number]

const dataUrl = ({ mime, data }: { readonly mime: string; readonly data: string }) => `data:${mime};base64,${data}`

const userPart = (piece: Piece): ContentChunk[] => {
  if ('text' in piece) return [{ type: 'text', text: piece.text }]
  if ('image' in piece) return [{ type: 'image_url', imageUrl: addressOf(piece.image) }]
  if ('file' in piece) return [{ type: 'document_url', documentUrl: dataUrl(piece.file), documentName: piece.file.name }]
  return 'audio' in piece ? [{ type: 'input_audio', inputAudio: piece.audio.data }] : []
}

/** Its ids have nine letters and digits. */
const idOf = (id: string) =>
  id
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .padEnd(9, '0')
    .slice(0, 9)
const toCall = ({ id, name, args }: NonNullable<Say['calls']>[number]) => ({
  id: idOf(id),
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
})
const toResult = ({ result }: Extract<Piece, { readonly result: unknown }>): Message => ({
  role: 'tool',
  toolCallId: idOf(result.id),
  name: result.name,
  content: result.text,
})

function toMessages({ role, pieces }: Ask['turns'][number]): Message[] {
  const results = pieces.filter((piece) => 'result' in piece).map(toResult)
  if (results.length > 0) return results
  if (role === 'user') return [{ role, content: pieces.flatMap(userPart) }]
  const content = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  return [{ role, content, toolCalls: pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : [])) }]
}

const toParams = (ask: Ask, model: string): ChatCompletionRequest => ({
  model,
  maxTokens: ask.maxTokens,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]), ...ask.turns.flatMap(toMessages)],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function' as const, function: { name, parameters: { ...parameters } } })),
  }),
  ...(ask.schema && {
    responseFormat: { type: 'json_schema' as const, jsonSchema: { name: 'answer', schemaDefinition: { ...ask.schema } } },
  }),
  ...(ask.thinks && { promptMode: 'reasoning' as const }),
  ...(ask.stop !== undefined && { stop: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length', tool_calls: 'tool-calls' }

type Content = string | readonly ContentChunk[] | null | undefined
const partsOf = (content: Content): readonly ContentChunk[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
const textOf = (content: Content) =>
  partsOf(content)
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('')
const thoughtOf = (content: Content) =>
  partsOf(content)
    .flatMap((part) => (part.type === 'thinking' && 'thinking' in part ? part.thinking : []))
    .map((one) => ('text' in one ? one.text : ''))
    .join('')

type Answer = Pick<ChatCompletionResponse, 'choices' | 'usage'>

function sayOf({ choices, usage }: Answer): Say {
  const [choice] = choices
  const [thought, said] = [thoughtOf(choice?.message?.content), textOf(choice?.message?.content)]
  return {
    ...(thought !== '' && { thought: { text: thought, signature: '' } }),
    ...(said !== '' && { text: said }),
    calls: (choice?.message?.toolCalls ?? []).map(({ id = '', function: called }) => ({
      id,
      name: called.name,
      args: (typeof called.arguments === 'string' ? JSON.parse(called.arguments) : called.arguments) as Record<string, unknown>,
    })),
    stop: stops[choice?.finishReason ?? ''] ?? ('none' as Stop),
    counts: { input: usage.promptTokens ?? -1, cached: 0, output: usage.completionTokens ?? -1, thought: 0 },
  }
}

/** Adds up a stream, as a caller of the client does. */
async function gather(events: AsyncIterable<CompletionEvent>): Promise<Answer> {
  const toolCalls: NonNullable<NonNullable<Answer['choices'][number]['message']>['toolCalls']> = []
  let [thought, text, finishReason, usage]: [string, string, string | null, Answer['usage'] | undefined] = ['', '', null, undefined]
  for await (const { data } of events) {
    const [choice] = data.choices
    thought += thoughtOf(choice?.delta.content)
    text += textOf(choice?.delta.content)
    toolCalls.push(...(choice?.delta.toolCalls ?? []))
    finishReason = choice?.finishReason ?? finishReason
    usage = data.usage ?? usage
  }
  const thoughts: ContentChunk[] = thought === '' ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }]
  const content: ContentChunk[] = [...thoughts, { type: 'text', text }]
  return { choices: [{ index: 0, finishReason: (finishReason ?? '') as 'stop', message: { content, toolCalls } }], usage: usage ?? {} }
}

const clientAt = ({ origin, key }: Address) => new Mistral({ serverURL: origin, apiKey: key, retryConfig: { strategy: 'none' } })

/** Mistral's own client, which proves its emulator. */
export function mistralTalker(address: Address): Talker {
  const client = clientAt(address)
  const send = async (params: ChatCompletionRequest, stream: boolean): Promise<Talk> => {
    const answer = stream ? await gather(await client.chat.stream(params)) : await client.chat.complete(params)
    const say = sayOf(answer)
    const { content, toolCalls } = answer.choices[0]?.message ?? {}
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) =>
        send({ ...params, messages: [...params.messages, { role: 'assistant', content, toolCalls }, ...results.map(toResult)] }, stream),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask, address.model), stream) }
}

/** Mistral's own client, for texts that are filled in. */
export function fimTalker(address: Address): Talker {
  const client = clientAt(address)
  const talk = async (ask: Ask, stream: boolean): Promise<Talk> => {
    const params = {
      model: address.model,
      prompt: ask.turns.flatMap(({ pieces }) => pieces.flatMap((piece) => ('text' in piece ? [piece.text] : []))).join('\n'),
      maxTokens: ask.maxTokens,
      ...(ask.stop !== undefined && { stop: [ask.stop] }),
    }
    const answer = stream ? await gather(await client.fim.stream(params)) : await client.fim.complete(params)
    return { said: saidOf(sayOf(answer)), calls: [], answer: () => Promise.reject(new Error('a completion has one turn')) }
  }
  return { talk }
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly image_url?: string | { readonly url: string }
  readonly document_url?: string
  readonly input_audio?: string
  readonly thinking?: readonly { readonly text: string }[]
  readonly signature?: string | null
}

interface Asked {
  readonly messages: readonly {
    readonly role: string
    readonly content?: string | readonly Part[] | null
    readonly tool_call_id?: string
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[]
  }[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> } }[]
  readonly response_format?: { readonly json_schema?: { readonly schema: Readonly<Record<string, unknown>> } }
  readonly prompt_mode?: string
  readonly reasoning_effort?: string
  readonly stop?: string | readonly string[]
  readonly max_tokens?: number
  readonly prompt?: string
}

function heardPart(role: string, part: Part): string {
  if (part.image_url !== undefined)
    return `${role} image ${heardUrl(typeof part.image_url === 'string' ? part.image_url : part.image_url.url)}`
  if (part.document_url !== undefined) return `${role} file ${heardUrl(part.document_url)}`
  if (part.input_audio !== undefined) return `${role} audio audio/wav ${part.input_audio}`
  if (part.thinking !== undefined) return thoughtLine(part.thinking.map(({ text }) => text).join(''), part.signature ?? null)
  return role === 'system' ? `system ${part.text}` : `${role} text ${part.text}`
}

function heardMessage(message: Asked['messages'][number], names: Map<string, string>): Lines {
  const { role, content, tool_calls: calls = [] } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  if (role === 'tool') return [`result ${names.get(message.tool_call_id ?? '') ?? 'of nothing'} ${parts.map(({ text }) => text).join('')}`]
  return [
    ...parts.filter(({ text }) => text !== '').map((part) => heardPart(role, part)),
    ...calls.map(({ id, function: { name, arguments: given } }) => heardCall({ id, name, given }, names)),
  ]
}

function heard({ json: body }: Received): Lines {
  const asked = body as unknown as Asked
  const names = new Map<string, string>()
  const schema = asked.response_format?.json_schema?.schema
  return [
    ...(asked.prompt === undefined ? [] : [`user text ${asked.prompt}`]),
    ...(asked.messages ?? []).flatMap((message) => heardMessage(message, names)),
    ...heardOf({
      turns: [],
      tools: (asked.tools ?? []).map((tool) => tool.function),
      ...(schema && { schema }),
      thinks: asked.prompt_mode === 'reasoning' || (asked.reasoning_effort ?? 'none') !== 'none',
      ...(asked.stop && { stop: [asked.stop].flat().join(',') }),
      maxTokens: asked.max_tokens ?? -1,
    }),
  ]
}

const finishOf = (stop: Stop) => (stop === 'stop-sequence' ? 'stop' : stop.replace('-', '_'))
const usageOf = ({ counts }: Say) => ({
  prompt_tokens: counts.input,
  completion_tokens: counts.output,
  total_tokens: counts.input + counts.output,
})
const thinking = ({ text }: { readonly text: string }) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
const contentOf = ({ thought, text = '' }: Say) =>
  thought === undefined ? text : [thinking(thought), ...(text === '' ? [] : [{ type: 'text', text }])]

const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
  [
    null,
    { id: 'c1', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more },
  ] as const

/** Mistral's API for chats, and for texts that are filled in: calls come whole, counts in the last piece. */
export const mistralProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfMistral,
  heard,
  whole: (say) =>
    json({
      id: 'c1',
      object: 'chat.completion',
      created: 5,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: finishOf(say.stop),
          message: { role: 'assistant', content: contentOf(say), tool_calls: say.calls?.map(toCall) ?? null },
        },
      ],
      usage: usageOf(say),
    }),
  stream: (say) =>
    sse([
      chunk({ role: 'assistant', content: '' }),
      ...(say.thought === undefined ? [] : Array.from(say.thought.text, (text) => chunk({ content: [thinking({ text })] }))),
      ...Array.from(say.text ?? '', (content) => chunk({ content })),
      ...(say.calls === undefined
        ? []
        : [chunk({ content: '', tool_calls: say.calls.map((call, index) => ({ ...toCall(call), index })) })]),
      chunk({ content: '' }, finishOf(say.stop), { usage: usageOf(say) }),
      [null, '[DONE]'],
    ]),
  error: (status, message) => ({ object: 'error', message, type: 'invalid_request_error', param: null, code: String(status) }),
}
