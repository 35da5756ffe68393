import { type Cohere, CohereClientV2 } from 'cohere-ai'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfCohere } from '../../support/dialects/strict-cohere.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  addressOf,
  type Ask,
  heardCall,
  heardOf,
  heardUrl,
  type Lines,
  type ProviderSide,
  saidOf,
  type Say,
  type Stop,
  type Talk,
  type Talker,
} from '../talk.ts'

const toMessages = ({ role, pieces }: Ask['turns'][number]): Cohere.ChatMessageV2[] => {
  const results = pieces.flatMap((piece) =>
    'result' in piece ? [{ role: 'tool' as const, toolCallId: piece.result.id, content: piece.result.text }] : [],
  )
  if (results.length > 0) return results
  const text = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  if (role === 'user')
    return [
      {
        role,
        content: pieces.flatMap((piece): Cohere.Content[] => {
          if ('text' in piece) return [{ type: 'text', text: piece.text }]
          if (!('image' in piece)) return []
          return [{ type: 'image_url', imageUrl: { url: addressOf(piece.image) } }]
        }),
      },
    ]
  const toolCalls = pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  return [{ role, ...(toolCalls.length > 0 ? { toolPlan: text, toolCalls } : { content: text }) }]
}

const toCall = ({ id, name, args }: NonNullable<Say['calls']>[number]) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
})

const toParams = (ask: Ask, model: string): Cohere.V2ChatRequest => ({
  model,
  maxTokens: ask.maxTokens,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]), ...ask.turns.flatMap(toMessages)],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function' as const, function: { name, parameters: { ...parameters } } })),
  }),
  ...(ask.schema && { responseFormat: { type: 'json_object' as const, jsonSchema: { ...ask.schema } } }),
  ...(ask.thinks && { thinking: { type: 'enabled' as const, tokenBudget: 1024 } }),
  ...(ask.stop !== undefined && { stopSequences: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop-sequence',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'content-filter',
}

function sayOf({ message, finishReason, usage }: Omit<Cohere.V2ChatResponse, 'id'>): Say {
  const thought = (message.content ?? []).flatMap((part) => (part.type === 'thinking' ? [part.thinking] : [])).join('')
  const text = (message.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  return {
    ...(thought !== '' && { thought: { text: thought, signature: '' } }),
    ...(text !== '' && { text }),
    calls: (message.toolCalls ?? []).map(({ id, function: called }) => ({
      id,
      name: called?.name ?? '',
      args: JSON.parse(called?.arguments ?? '{}') as Record<string, unknown>,
    })),
    stop: stops[finishReason] ?? ('none' as Stop),
    counts: {
      input: usage?.tokens?.inputTokens ?? -1,
      cached: usage?.cachedTokens ?? 0,
      output: usage?.tokens?.outputTokens ?? -1,
      thought: 0,
    },
  }
}

type Answer = Omit<Cohere.V2ChatResponse, 'id'>

/** Adds up a stream, as a caller of the client does. */
async function gather(events: AsyncIterable<Cohere.V2ChatStreamResponse>): Promise<Answer> {
  const texts = { text: '', thinking: '' }
  const toolCalls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  let end: Cohere.ChatMessageEndEventDelta | undefined
  for await (const event of events) {
    if (event.type === 'content-delta') {
      const content = event.delta?.message?.content
      texts.text += content?.text ?? ''
      texts.thinking += content?.thinking ?? ''
    } else if (event.type === 'tool-call-start') {
      const { id = '', function: called } = event.delta?.message?.toolCalls ?? {}
      toolCalls.push({ id, type: 'function', function: { name: called?.name ?? '', arguments: called?.arguments ?? '' } })
    } else if (event.type === 'tool-call-delta') {
      const last = toolCalls.at(-1)
      if (last) last.function.arguments += event.delta?.message?.toolCalls?.function?.arguments ?? ''
    } else if (event.type === 'message-end') end = event.delta
  }
  return {
    finishReason: end?.finishReason ?? 'TIMEOUT',
    message: {
      role: 'assistant',
      toolCalls,
      content: [
        { type: 'thinking', thinking: texts.thinking },
        { type: 'text', text: texts.text },
      ],
    },
    ...(end?.usage && { usage: end.usage }),
  }
}

/** Cohere's own client, which proves its emulator. */
export function cohereTalker({ origin, key, model }: Address): Talker {
  const client = new CohereClientV2({ baseUrl: origin, token: key })
  const send = async (params: Cohere.V2ChatRequest, stream: boolean): Promise<Talk> => {
    const answer = stream ? await gather(await client.chatStream(params)) : await client.chat(params)
    const say = sayOf(answer)
    const { content, toolCalls } = answer.message
    const said: Cohere.ChatMessageV2 = {
      role: 'assistant',
      ...(say.text !== undefined || say.thought !== undefined
        ? { content: (content ?? []).filter((part) => (part.type === 'text' ? part.text : part.thinking) !== '') }
        : {}),
      ...(toolCalls?.length && { toolCalls }),
    }
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) =>
        send(
          {
            ...params,
            messages: [
              ...params.messages,
              said,
              ...results.map(({ result }) => ({ role: 'tool' as const, toolCallId: result.id, content: result.text })),
            ],
          },
          stream,
        ),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask, model), stream) }
}

interface Asked {
  readonly messages: readonly {
    readonly role: string
    readonly content?:
      | string
      | readonly {
          readonly type: string
          readonly text?: string
          readonly thinking?: string
          readonly image_url?: { readonly url: string }
        }[]
    readonly tool_plan?: string
    readonly tool_call_id?: string
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[]
  }[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> } }[]
  readonly response_format?: { readonly json_schema?: Readonly<Record<string, unknown>> }
  readonly thinking?: { readonly type: string }
  readonly stop_sequences?: readonly string[]
  readonly max_tokens?: number
}

function heardMessage(message: Asked['messages'][number], names: Map<string, string>): Lines {
  const { role, content = [], tool_plan: plan, tool_calls: calls = [] } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (role === 'tool') return [`result ${names.get(message.tool_call_id ?? '') ?? 'of nothing'} ${parts.map(({ text }) => text).join('')}`]
  return [
    ...parts.map((part) => {
      if (part.thinking !== undefined) return `assistant thought ${part.thinking} unsigned`
      if (part.image_url !== undefined) return `${role} image ${heardUrl(part.image_url.url)}`
      return role === 'system' ? `system ${part.text}` : `${role} text ${part.text}`
    }),
    ...(plan === undefined || plan === '' ? [] : [`assistant text ${plan}`]),
    ...calls.map(({ id, function: { name, arguments: given } }) => heardCall({ id, name, given }, names)),
  ]
}

function heard({ json: body }: Received): Lines {
  const asked = body as unknown as Asked
  const names = new Map<string, string>()
  const schema = asked.response_format?.json_schema
  return [
    ...asked.messages.flatMap((message) => heardMessage(message, names)),
    ...heardOf({
      turns: [],
      tools: (asked.tools ?? []).map((tool) => tool.function),
      ...(schema && { schema }),
      thinks: asked.thinking?.type === 'enabled',
      ...(asked.stop_sequences && { stop: asked.stop_sequences.join(',') }),
      maxTokens: asked.max_tokens ?? -1,
    }),
  ]
}

const reasons = {
  stop: 'COMPLETE',
  'stop-sequence': 'STOP_SEQUENCE',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  'content-filter': 'ERROR',
} as const

const usageOf = ({ counts }: Say) => ({
  billed_units: { input_tokens: counts.input, output_tokens: counts.output },
  tokens: { input_tokens: counts.input, output_tokens: counts.output },
  cached_tokens: counts.cached,
})

function streamOf(say: Say): readonly { readonly type: string; readonly [field: string]: unknown }[] {
  const content = [
    ...(say.thought ? [{ type: 'thinking', field: 'thinking', said: [say.thought.text] }] : []),
    ...(say.text === undefined ? [] : [{ type: 'text', field: 'text', said: Array.from(say.text) }]),
  ]
  return [
    {
      type: 'message-start',
      id: 'c1',
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    ...content.flatMap(({ type, field, said }, index) => [
      { type: 'content-start', index, delta: { message: { content: { type, [field]: '' } } } },
      ...said.map((text) => ({ type: 'content-delta', index, delta: { message: { content: { [field]: text } } } })),
      { type: 'content-end', index },
    ]),
    ...(say.calls ?? []).flatMap((call, index) => [
      {
        type: 'tool-call-start',
        index,
        delta: { message: { tool_calls: { ...toCall(call), function: { name: call.name, arguments: '' } } } },
      },
      ...(JSON.stringify(call.args).match(/.{1,5}/g) ?? []).map((piece) => ({
        type: 'tool-call-delta',
        index,
        delta: { message: { tool_calls: { function: { arguments: piece } } } },
      })),
      { type: 'tool-call-end', index },
    ]),
    { type: 'message-end', id: 'c1', delta: { finish_reason: reasons[say.stop], usage: usageOf(say) } },
  ]
}

/** Cohere's API for chats, version 2. */
export const cohereProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfCohere,
  heard,
  whole: (say) =>
    json({
      id: 'c1',
      finish_reason: reasons[say.stop],
      message: {
        role: 'assistant',
        ...((say.text !== undefined || say.thought !== undefined) && {
          content: [
            ...(say.thought ? [{ type: 'thinking', thinking: say.thought.text }] : []),
            ...(say.text === undefined ? [] : [{ type: 'text', text: say.text }]),
          ],
        }),
        ...(say.calls && { tool_calls: say.calls.map(toCall) }),
      },
      usage: usageOf(say),
    }),
  stream: (say) => sse(streamOf(say).map((event) => [event.type, event] as const)),
  error: (_, message) => ({ id: 'e1', message }),
}
