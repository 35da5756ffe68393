import { Region, SimpleAuthenticationDetailsProvider } from 'oci-common'
import { GenerativeAiInferenceClient, type models } from 'oci-generativeaiinference'
import { oracleKey, oracleUser } from '../../support/dialects/oracle-credential.ts'
import { SseReader } from '../../../src/gateway/wire/sse-events.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfOracle } from '../../support/dialects/strict-oracle.ts'
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
  thoughtLine,
} from '../talk.ts'

type Chat = models.GenericChatRequest
type Message = NonNullable<Chat['messages']>[number]
type Choice = models.ChatChoice & { readonly message: models.AssistantMessage }

const textContent = (text: string): models.TextContent => ({ type: 'TEXT', text })

const toMessages = ({ role, pieces }: Ask['turns'][number]): Message[] => {
  const results = pieces.flatMap((piece) =>
    'result' in piece ? [{ role: 'TOOL', toolCallId: piece.result.id, content: [textContent(piece.result.text)] }] : [],
  )
  if (results.length > 0) return results
  const content = pieces.flatMap((piece): models.ChatContent[] => {
    if ('text' in piece) return [textContent(piece.text)]
    if ('image' in piece) return [{ type: 'IMAGE', imageUrl: { url: addressOf(piece.image) } } as models.ImageContent]
    if ('audio' in piece)
      return [{ type: 'AUDIO', audioUrl: { url: `data:${piece.audio.mime};base64,${piece.audio.data}` } } as models.AudioContent]
    if (!('file' in piece)) return []
    const url = `data:${piece.file.mime};base64,${piece.file.data}`
    return [{ type: 'DOCUMENT', documentUrl: { url } } as models.DocumentContent]
  })
  const toolCalls = pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  return [{ role: role.toUpperCase(), ...(content.length > 0 && { content }), ...(toolCalls.length > 0 && { toolCalls }) }]
}

const toCall = ({ id, name, args }: NonNullable<Say['calls']>[number]): models.FunctionCall => ({
  id,
  type: 'FUNCTION',
  name,
  arguments: JSON.stringify(args),
})

const toParams = (ask: Ask): Chat => ({
  apiFormat: 'GENERIC',
  maxTokens: ask.maxTokens,
  messages: [
    ...(ask.system === undefined ? [] : [{ role: 'SYSTEM', content: [textContent(ask.system)] }]),
    ...ask.turns.flatMap(toMessages),
  ],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'FUNCTION', name, parameters: { ...parameters } })),
  }),
  ...(ask.schema && { responseFormat: { type: 'JSON_SCHEMA', jsonSchema: { name: 'answer', schema: { ...ask.schema } } } }),
  ...(ask.thinks && { reasoningEffort: 'MEDIUM' as models.GenericChatRequest.ReasoningEffort }),
  ...(ask.stop !== undefined && { stop: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length', tool_calls: 'tool-calls', content_filter: 'content-filter' }

const textOf = (content: readonly models.ChatContent[] = []) => content.map((part) => (part as models.TextContent).text ?? '').join('')

function sayOf({ message, finishReason, usage }: Choice): Say {
  const text = textOf(message.content)
  return {
    ...(message.reasoningContent && { thought: { text: message.reasoningContent, signature: '' } }),
    ...(text && { text }),
    calls: ((message.toolCalls ?? []) as models.FunctionCall[]).map((call) => ({
      id: call.id,
      name: call.name ?? '',
      args: JSON.parse(call.arguments ?? '{}') as Record<string, unknown>,
    })),
    stop: stops[finishReason] ?? ('none' as Stop),
    counts: {
      input: usage?.promptTokens ?? -1,
      cached: usage?.promptTokensDetails?.cachedTokens ?? 0,
      output: usage?.completionTokens ?? -1,
      thought: usage?.completionTokensDetails?.reasoningTokens ?? 0,
    },
  }
}

/** Adds up a stream, which the client gives as bytes. */
async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Choice> {
  const reader = new SseReader()
  const [said, calls] = [{ text: '', thought: '' }, [] as models.FunctionCall[]]
  let end: Pick<Choice, 'finishReason' | 'usage'> | null = null
  for await (const piece of bytes)
    for (const { data } of reader.push(Buffer.from(piece)) ?? []) {
      if (data === null) continue
      const { message, finishReason, usage } = JSON.parse(data) as Choice
      said.text += textOf(message.content)
      said.thought += message.reasoningContent ?? ''
      for (const call of (message.toolCalls ?? []) as models.FunctionCall[]) {
        if (call.id !== undefined) calls.push({ ...call, arguments: '' })
        const last = calls.at(-1)
        if (last !== undefined) last.arguments = (last.arguments ?? '') + (call.arguments ?? '')
      }
      if (finishReason !== undefined) end = { finishReason, ...(usage !== undefined && { usage }) }
    }
  if (end === null) throw new Error('the stream was cut')
  const content = said.text === '' ? [] : [textContent(said.text)]
  const message = { role: 'ASSISTANT', content, toolCalls: calls, ...(said.thought && { reasoningContent: said.thought }) }
  return { index: 0, message, ...end }
}

/** Returns Oracle's own client. */
export function oracleClient(origin: string): GenerativeAiInferenceClient {
  const { tenancy, user, fingerprint } = oracleUser
  const authenticationDetailsProvider = new SimpleAuthenticationDetailsProvider(
    tenancy,
    user,
    fingerprint,
    oracleKey,
    null,
    Region.EU_FRANKFURT_1,
  )
  const client = new GenerativeAiInferenceClient({ authenticationDetailsProvider })
  client.endpoint = origin
  return client
}

type ChatRequest = models.ChatDetails['chatRequest']

/** Asks Oracle's own client for a chat. */
export async function askOracle(
  { origin, model }: Address,
  chatRequest: ChatRequest,
): Promise<models.ChatResult | AsyncIterable<Uint8Array>> {
  const answer = await oracleClient(origin).chat({
    chatDetails: { compartmentId: oracleUser.tenancy, servingMode: { servingType: 'ON_DEMAND', modelId: model }, chatRequest },
  })
  return answer !== null && 'chatResult' in answer ? answer.chatResult : (answer as unknown as AsyncIterable<Uint8Array>)
}

/** Oracle's own client, which proves its emulator. */
export function oracleTalker(address: Address): Talker {
  const send = async (params: Chat, stream: boolean): Promise<Talk> => {
    const answer = await askOracle(address, stream ? { ...params, isStream: true, streamOptions: { isIncludeUsage: true } } : params)
    const choice = 'chatResponse' in answer ? wholeChoice(answer.chatResponse as models.GenericChatResponse) : await gather(answer)
    const say = sayOf(choice)
    const { content = [], toolCalls = [], reasoningContent } = choice.message
    const said: models.AssistantMessage = {
      role: 'ASSISTANT',
      ...(content.length > 0 && { content }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(reasoningContent !== undefined && { reasoningContent }),
    }
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) =>
        send(
          {
            ...params,
            messages: [
              ...(params.messages ?? []),
              said,
              ...results.map(({ result }) => ({ role: 'TOOL', toolCallId: result.id, content: [textContent(result.text)] })),
            ],
          },
          stream,
        ),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask), stream) }
}

const wholeChoice = ({ choices: [choice], usage }: models.GenericChatResponse): Choice => {
  if (choice === undefined) throw new Error('no choice')
  return { ...choice, ...(usage !== undefined && { usage }) }
}

interface Heard {
  readonly role: string
  readonly content?: readonly {
    readonly text?: string
    readonly imageUrl?: { readonly url: string }
    readonly documentUrl?: { readonly url: string }
    readonly audioUrl?: { readonly url: string }
  }[]
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly toolCallId?: string
  readonly reasoningContent?: string
}

function heardMessage({ role, content = [], toolCalls = [], toolCallId, reasoningContent }: Heard, names: Map<string, string>): Lines {
  const who = role.toLowerCase()
  if (who === 'tool') return [`result ${names.get(toolCallId ?? '') ?? 'of nothing'} ${content.map(({ text }) => text).join('')}`]
  return [
    ...(reasoningContent === undefined ? [] : [thoughtLine(reasoningContent, null)]),
    ...content.map(({ text, imageUrl, documentUrl, audioUrl }) => {
      if (imageUrl !== undefined) return `${who} image ${heardUrl(imageUrl.url)}`
      if (documentUrl !== undefined) return `${who} file ${heardUrl(documentUrl.url)}`
      if (audioUrl !== undefined) return `${who} audio ${heardUrl(audioUrl.url)}`
      return who === 'system' ? `system ${text}` : `${who} text ${text}`
    }),
    ...toolCalls.map(({ id, name, arguments: given }) => heardCall({ id, name, given }, names)),
  ]
}

interface Formatted {
  readonly messages: readonly Heard[]
  readonly responseFormat?: { readonly jsonSchema?: { readonly schema?: Readonly<Record<string, unknown>> } }
}

function heard({ json: body }: Received): Lines {
  const { chatRequest: asked } = body as unknown as {
    readonly chatRequest: Omit<Chat, 'messages' | 'responseFormat'> & Formatted
  }
  const names = new Map<string, string>()
  const schema = asked.responseFormat?.jsonSchema?.schema
  return [
    ...asked.messages.flatMap((message) => heardMessage(message, names)),
    ...heardOf({
      turns: [],
      tools: ((asked.tools ?? []) as models.FunctionDefinition[]).map(({ name = '', parameters }) => ({
        name,
        parameters: parameters as Record<string, unknown>,
      })),
      ...(schema && { schema }),
      thinks: asked.reasoningEffort !== undefined,
      ...(asked.stop && { stop: asked.stop.join(',') }),
      maxTokens: asked.maxTokens ?? -1,
    }),
  ]
}

const reasons = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} as const

export const usageOnOracle = ({ counts }: Say) => ({
  promptTokens: counts.input,
  completionTokens: counts.output,
  totalTokens: counts.input + counts.output,
  promptTokensDetails: { cachedTokens: counts.cached },
  completionTokensDetails: { reasoningTokens: counts.thought },
})

const part = (message: object) => ({ index: 0, message: { role: 'ASSISTANT', ...message }, pad: 'aaaaaaaa' })

/** Texts come in pieces; of a call its name comes first, and its arguments behind it. */
function eventsOf(say: Say): readonly object[] {
  return [
    ...(say.thought ? [part({ reasoningContent: say.thought.text })] : []),
    ...Array.from(say.text ?? '', (text) => part({ content: [{ type: 'TEXT', text }] })),
    ...(say.calls ?? []).flatMap((call) => [
      part({ toolCalls: [{ id: call.id, type: 'FUNCTION', name: call.name, arguments: '' }] }),
      ...(JSON.stringify(call.args).match(/.{1,5}/g) ?? []).map((piece) => part({ toolCalls: [{ type: 'FUNCTION', arguments: piece }] })),
    ]),
    { ...part({}), finishReason: reasons[say.stop], usage: usageOnOracle(say) },
  ]
}

/** Oracle's chats in the format that most of its models take. */
export const oracleProvider: ProviderSide = {
  isStream: ({ json: body }) => (body['chatRequest'] as Chat).isStream === true,
  refusal: refusalOfOracle,
  heard,
  whole: (say) =>
    json({
      modelId: 'meta.llama-3.3-70b-instruct',
      modelVersion: '1.0.0',
      chatResponse: {
        apiFormat: 'GENERIC',
        timeCreated: '2026-11-23T10:00:00.000Z',
        choices: [
          {
            index: 0,
            finishReason: reasons[say.stop],
            message: {
              role: 'ASSISTANT',
              ...(say.text !== undefined && { content: [{ type: 'TEXT', text: say.text }] }),
              ...(say.thought && { reasoningContent: say.thought.text }),
              ...(say.calls && { toolCalls: say.calls.map(toCall) }),
            },
          },
        ],
        usage: usageOnOracle(say),
      },
    }),
  stream: (say) => sse(eventsOf(say).map((event) => [null, event] as const)),
  error: (status, message) => ({ code: String(status), message }),
}
