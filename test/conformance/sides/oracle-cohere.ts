import type { models } from 'oci-generativeaiinference'
import { SseReader } from '../../../src/gateway/wire/sse-events.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfOracle } from '../../support/dialects/strict-oracle.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  type Ask,
  heardOf,
  inOrder,
  type Lines,
  type ProviderSide,
  type Say,
  saidOf,
  type Stop,
  type Talk,
  type Talker,
} from '../talk.ts'
import { askOracle, usageOnOracle } from './oracle.ts'

type Chat = models.CohereChatRequest
type Turn = Ask['turns'][number]

/** Texts of one message, which is one text here. */
const between = '\n\n'

const types: Readonly<Record<string, string>> = { string: 'str', number: 'float' }
const toDefinitions = (schema: Readonly<Record<string, unknown>>) => {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, { type: string }>; required?: string[] }
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, { type: types[type] ?? type, isRequired: required.includes(name) }]),
  )
}

const textOf = ({ pieces }: Turn) => pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join(between)
const toCall = ({ name, args }: NonNullable<Say['calls']>[number]): models.CohereToolCall => ({ name, parameters: { ...args } })

function toResults({ pieces }: Turn, before: readonly Turn[]): models.CohereToolResult[] {
  const calls = before.flatMap((turn) => turn.pieces.flatMap((piece) => ('call' in piece ? [piece.call] : [])))
  return pieces.flatMap((piece) => {
    if (!('result' in piece)) return []
    const call = calls.find(({ id }) => id === piece.result.id)
    return call === undefined ? [] : [{ call: toCall(call), outputs: [{ output: piece.result.text }] }]
  })
}

function toTurn(turn: Turn): models.CohereMessage {
  if (turn.role === 'user') return { role: 'USER', message: textOf(turn) } as models.CohereMessage
  const toolCalls = turn.pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  return { role: 'CHATBOT', message: textOf(turn), ...(toolCalls.length > 0 && { toolCalls }) } as models.CohereMessage
}

function toParams(ask: Ask): Chat {
  const last = ask.turns.at(-1) ?? { role: 'user', pieces: [] }
  const before = ask.turns.slice(0, -1)
  const toolResults = toResults(last, before)
  return {
    apiFormat: 'COHERE',
    maxTokens: ask.maxTokens,
    message: toolResults.length > 0 ? '' : textOf(last),
    ...(toolResults.length > 0 && { toolResults }),
    ...(before.length > 0 && { chatHistory: before.map(toTurn) }),
    ...(ask.system !== undefined && { preambleOverride: ask.system }),
    ...(ask.tools && {
      tools: ask.tools.map(({ name, parameters }) => ({ name, description: name, parameterDefinitions: toDefinitions(parameters) })),
    }),
    ...(ask.schema && { responseFormat: { type: 'JSON_OBJECT', schema: { ...ask.schema } } }),
    ...(ask.stop !== undefined && { stopSequences: [ask.stop] }),
  }
}

const stops: Readonly<Record<string, Stop>> = { COMPLETE: 'stop', STOP_SEQUENCE: 'stop-sequence', MAX_TOKENS: 'length' }

/** An answer that the client has read; the client itself keeps no unknown reasons. */
type Answer = Pick<models.CohereChatResponse, 'text' | 'toolCalls' | 'usage'> & { readonly finishReason: string }

function sayOf({ text, toolCalls = [], finishReason, usage }: Answer): Say {
  return {
    ...(text && { text }),
    calls: toolCalls.map(({ name, parameters }, index) => ({ id: `call_${index}`, name, args: parameters as Record<string, unknown> })),
    stop: toolCalls.length > 0 ? 'tool-calls' : (stops[finishReason] ?? ('none' as Stop)),
    counts: {
      input: usage?.promptTokens ?? -1,
      cached: usage?.promptTokensDetails?.cachedTokens ?? 0,
      output: usage?.completionTokens ?? -1,
      thought: usage?.completionTokensDetails?.reasoningTokens ?? 0,
    },
  }
}

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Answer> {
  const reader = new SseReader()
  let [text, end]: [string, Answer | null] = ['', null]
  for await (const piece of bytes)
    for (const { data } of reader.push(Buffer.from(piece)) ?? []) {
      if (data === null) continue
      const event = JSON.parse(data) as Answer
      if (event.finishReason === undefined) text += event.text
      else end = event
    }
  if (end === null) throw new Error('the stream was cut')
  return { ...end, text }
}

/** Oracle's own client with models of Cohere's, which proves the emulator. */
export function oracleCohereTalker(address: Address): Talker {
  const send = async (ask: Ask, stream: boolean): Promise<Talk> => {
    const params = toParams(ask)
    const answer = await askOracle(address, stream ? { ...params, isStream: true, streamOptions: { isIncludeUsage: true } } : params)
    const say = sayOf('chatResponse' in answer ? (answer.chatResponse as unknown as Answer) : await gather(answer))
    const calls = say.calls ?? []
    return {
      said: saidOf(say),
      calls,
      answer: (results) =>
        send(
          {
            ...ask,
            turns: [
              ...ask.turns,
              { role: 'assistant', pieces: [...(say.text === undefined ? [] : [{ text: say.text }]), ...calls.map((call) => ({ call }))] },
              { role: 'user', pieces: results },
            ],
          },
          stream,
        ),
    }
  }
  return { talk: send }
}

interface HeardCall {
  readonly name: string
  readonly parameters: object
}
interface HeardResult {
  readonly call: HeardCall
  readonly outputs: readonly { readonly output: string }[]
}
interface Heard {
  readonly role: string
  readonly message?: string
  readonly toolCalls?: readonly HeardCall[]
  readonly toolResults?: readonly HeardResult[]
}

const textsOf = (role: string, message: string) => (message === '' ? [] : message.split(between).map((text) => `${role} text ${text}`))
const resultsOf = (results: readonly HeardResult[] = []) =>
  results.map(({ call, outputs }) => `result ${call.name} ${outputs.map(({ output }) => output).join('')}`)

function heardTurn({ role, message = '', toolCalls = [], toolResults }: Heard): Lines {
  const who = role === 'CHATBOT' ? 'assistant' : role.toLowerCase()
  return [
    ...textsOf(who, message),
    ...toolCalls.map(({ name, parameters }) => `assistant call ${name} ${inOrder(parameters)}`),
    ...resultsOf(toolResults),
  ]
}

/** The schema that the definitions of parameters stand for. */
function schemaOf(definitions: models.CohereTool['parameterDefinitions'] = {}) {
  const entries = Object.entries(definitions)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { type }]) => [name, { type: Object.entries(types).find(([, short]) => short === type)?.[0] ?? type }]),
    ),
    required: entries.filter(([, { isRequired }]) => isRequired === true).map(([name]) => name),
    // Definitions hold no others; an empty list is omitted.
    additionalProperties: entries.length === 0,
  }
}

interface Formatted {
  readonly responseFormat?: { readonly schema?: Readonly<Record<string, unknown>> }
}

function heard({ json: body }: Received): Lines {
  const { chatRequest: asked } = body as unknown as { readonly chatRequest: Omit<Chat, 'responseFormat'> & Formatted }
  const schema = asked.responseFormat?.schema
  return [
    ...(asked.preambleOverride === undefined ? [] : [`system ${asked.preambleOverride}`]),
    ...((asked.chatHistory ?? []) as unknown as Heard[]).flatMap(heardTurn),
    ...textsOf('user', asked.message),
    ...resultsOf(asked.toolResults),
    ...heardOf({
      turns: [],
      tools: (asked.tools ?? []).map(({ name, parameterDefinitions }) => ({ name, parameters: schemaOf(parameterDefinitions) })),
      ...(schema && { schema }),
      ...(asked.stopSequences && { stop: asked.stopSequences.join(',') }),
      maxTokens: asked.maxTokens ?? -1,
    }),
  ]
}

const reasons = {
  stop: 'COMPLETE',
  'stop-sequence': 'COMPLETE',
  length: 'MAX_TOKENS',
  'tool-calls': 'COMPLETE',
  'content-filter': 'ERROR_TOXIC',
} as const

const answerOf = (say: Say) => ({
  apiFormat: 'COHERE',
  text: say.text ?? '',
  finishReason: reasons[say.stop],
  ...(say.calls && { toolCalls: say.calls.map(toCall) }),
  usage: usageOnOracle(say),
})

/** Chats of Oracle's in the format of Cohere's first version. The last event of a stream repeats the text. */
export const oracleCohereProvider: ProviderSide = {
  isStream: ({ json: body }) => (body['chatRequest'] as Chat).isStream === true,
  refusal: refusalOfOracle,
  heard,
  whole: (say) => json({ modelId: 'cohere.command-r-plus-08-2024', modelVersion: '1.0', chatResponse: answerOf(say) }),
  stream: (say) =>
    sse(
      [...Array.from(say.text ?? '', (text) => ({ apiFormat: 'COHERE', text, pad: 'aaaa' })), answerOf(say)].map(
        (event) => [null, event] as const,
      ),
    ),
  error: (status, message) => ({ code: String(status), message }),
}
