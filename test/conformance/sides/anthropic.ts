import Anthropic from '@anthropic-ai/sdk'
import type {
  ContentBlock,
  ContentBlockParam,
  Message,
  MessageParam,
  RawMessageStreamEvent,
  StopReason,
  Usage,
} from '@anthropic-ai/sdk/resources/messages'
import { json, refusalOf, sse } from '../../support/dialects/strict.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  type Ask,
  heardOf,
  inOrder,
  type Lines,
  type Piece,
  type ProviderSide,
  type Result,
  type Say,
  saidOf,
  type Stop,
  type Talk,
  type Talker,
  thoughtLine,
} from '../talk.ts'

type Params = Anthropic.MessageCreateParamsNonStreaming
export type Asking = Params

const toResult = ({ result }: Result): ContentBlockParam => ({ type: 'tool_result', tool_use_id: result.id, content: result.text })

function toBlock(piece: Piece): ContentBlockParam {
  if ('text' in piece) return { type: 'text', text: piece.text }
  if ('image' in piece && piece.image.url !== undefined) return { type: 'image', source: { type: 'url', url: piece.image.url } }
  if ('image' in piece)
    return { type: 'image', source: { type: 'base64', media_type: piece.image.mime as 'image/png', data: piece.image.data } }
  if ('file' in piece)
    return {
      type: 'document',
      title: piece.file.name,
      source: { type: 'base64', media_type: 'application/pdf', data: piece.file.data },
    }
  if ('call' in piece) return { type: 'tool_use', id: piece.call.id, name: piece.call.name, input: piece.call.args }
  if ('result' in piece) return toResult(piece)
  throw new Error('no block of Anthropic says it')
}

export const toParams = (ask: Ask, model: string): Params => ({
  model,
  max_tokens: ask.maxTokens,
  messages: ask.turns.map(({ role, pieces }) => ({ role, content: pieces.map(toBlock) })),
  ...(ask.system !== undefined && { system: ask.system }),
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ name, input_schema: { type: 'object' as const, ...parameters } })),
  }),
  ...(ask.schema && { output_config: { format: { type: 'json_schema' as const, schema: { ...ask.schema } } } }),
  ...(ask.thinks && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  ...(ask.stop !== undefined && { stop_sequences: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
}

function sayOf({ content, stop_reason, usage }: Message): Say {
  const thought = content.find((block) => block.type === 'thinking')
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  return {
    ...(thought && { thought: { text: thought.thinking, signature: thought.signature } }),
    ...(text !== '' && { text }),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input as Record<string, unknown> }] : [],
    ),
    stop: stops[stop_reason ?? ''] ?? ('none' as Stop),
    counts: {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      cached: usage.cache_read_input_tokens ?? 0,
      output: usage.output_tokens,
      thought: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}

/** Anthropic's own client. */
export function messagesTalker({ origin, key, headers, model, extra, signal }: Address): Talker {
  const client = new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const options = signal === undefined ? {} : { signal }
  const send = (stream: boolean) =>
    talkerBy((params) => (stream ? client.messages.stream(params, options).finalMessage() : client.messages.create(params, options)))
  return { talk: (ask, stream) => send(stream)({ ...toParams(ask, model), ...extra }) }
}

/** Talks in Anthropic's format by a function that sends a request and returns the answer. */
export function talkerBy(ask: (params: Params) => PromiseLike<Message>): (params: Params) => Promise<Talk> {
  const send = async (params: Params): Promise<Talk> => {
    const answer = await ask(params)
    const say = sayOf(answer)
    const said: MessageParam = { role: 'assistant', content: answer.content }
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) => send({ ...params, messages: [...params.messages, said, { role: 'user', content: results.map(toResult) }] }),
    }
  }
  return send
}

function heardBlock(role: string, block: ContentBlockParam, names: Map<string, string>): string {
  if (block.type === 'text') return `${role} text ${block.text}`
  if (block.type === 'image' || block.type === 'document') {
    const { source } = block
    const kind = block.type === 'image' ? 'image' : 'file'
    return `${role} ${kind} ${source.type === 'base64' ? `${source.media_type} ${source.data}` : source.type === 'url' ? source.url : source.type}`
  }
  if (block.type === 'thinking') return thoughtLine(block.thinking, block.signature)
  if (block.type === 'tool_use') {
    names.set(block.id, block.name)
    return `assistant call ${block.name} ${inOrder(block.input)}`
  }
  if (block.type !== 'tool_result') return block.type
  const content = Array.isArray(block.content)
    ? block.content.map((part) => ('text' in part ? part.text : part.type)).join('')
    : block.content
  return `result ${names.get(block.tool_use_id) ?? 'of nothing'} ${content}`
}

const blocksOf = ({ content }: MessageParam): readonly ContentBlockParam[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

function heard({ json: body }: Received): Lines {
  const params = body as unknown as Params
  const names = new Map<string, string>()
  const { system, tools = [], thinking, output_config: output } = params
  const choice = params.tool_choice
  return [
    ...(Array.isArray(system) ? system.map(({ text }) => text) : system === undefined ? [] : [system]).map((text) => `system ${text}`),
    ...params.messages.flatMap((message) => blocksOf(message).map((block) => heardBlock(message.role, block, names))),
    ...heardOf({
      turns: [],
      tools: tools.map((tool) => ({
        name: 'name' in tool ? tool.name : tool.type,
        parameters: 'input_schema' in tool ? { ...tool.input_schema } : {},
      })),
      ...(output?.format && { schema: output.format.schema }),
      thinks: thinking?.type === 'enabled' || thinking?.type === 'adaptive',
      ...(params.stop_sequences && { stop: params.stop_sequences.join(',') }),
      maxTokens: params.max_tokens,
    }),
    ...(choice?.type === 'tool' ? [`must call ${choice.name}`] : []),
  ]
}

const reasons: Readonly<Record<Stop, StopReason>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
}

const usageOf = ({ counts }: Say): Usage => ({
  input_tokens: counts.input - counts.cached,
  cache_read_input_tokens: counts.cached,
  cache_creation_input_tokens: 0,
  cache_creation: null,
  output_tokens: counts.output,
  output_tokens_details: { thinking_tokens: counts.thought },
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: null,
  speed: null,
})

const blocksSaid = (say: Say): ContentBlock[] => [
  ...(say.thought ? [{ type: 'thinking' as const, thinking: say.thought.text, signature: say.thought.signature }] : []),
  ...(say.text === undefined ? [] : [{ type: 'text' as const, text: say.text, citations: null }]),
  ...(say.calls ?? []).map(({ id, name, args }) => ({
    type: 'tool_use' as const,
    id,
    name,
    input: args,
    caller: { type: 'direct' as const },
  })),
]

const messageOf = (say: Say, content: ContentBlock[]): Message => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  container: null,
  content,
  stop_reason: reasons[say.stop],
  stop_sequence: say.stop === 'stop-sequence' ? 'END' : null,
  stop_details: null,
  diagnostics: null,
  usage: usageOf(say),
})

type Delta = Extract<RawMessageStreamEvent, { readonly type: 'content_block_delta' }>['delta']

function deltasOf(block: ContentBlock): readonly Delta[] {
  if (block.type === 'text') return Array.from(block.text, (text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking')
    return [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ]
  if (block.type !== 'tool_use') return []
  return (JSON.stringify(block.input).match(/.{1,5}/g) ?? []).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}

function begun(block: ContentBlock): ContentBlock {
  if (block.type === 'text') return { ...block, text: '' }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function streamOf(say: Say): readonly RawMessageStreamEvent[] {
  const usage = usageOf(say)
  const start = {
    ...messageOf(say, []),
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1, output_tokens_details: null },
  }
  return [
    { type: 'message_start', message: start },
    ...blocksSaid(say).flatMap((block, index): RawMessageStreamEvent[] => [
      { type: 'content_block_start', index, content_block: begun(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta' as const, index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: {
        stop_reason: reasons[say.stop],
        stop_sequence: say.stop === 'stop-sequence' ? 'END' : null,
        container: null,
        stop_details: null,
      },
      usage: { ...usage },
    },
    { type: 'message_stop' },
  ]
}

/** Anthropic's API. */
export const messagesProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: (received) => (/\/messages(?:\?|$)/.test(received.url) ? refusalOf('anthropic', received.json) : `no ${received.url}`),
  heard,
  whole: (say) => json(messageOf(say, blocksSaid(say))),
  stream: (say) => sse(streamOf(say).map((event) => [event.type, event] as const)),
  error: (_, message) => ({ type: 'error', error: { type: 'api_error', message }, request_id: 'req_1' }),
}
