import { type ChatRequest, type ChatResponse, type Message, Ollama } from 'ollama'
import { json } from '../../support/dialects/strict.ts'
import { refusalOfOllama } from '../../support/dialects/strict-ollama.ts'
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
  thoughtLine,
} from '../talk.ts'

type Params = ChatRequest & { readonly messages: Message[] }

/** Texts of one message, which is one text here. */
const between = '\n\n'

const toMessages = ({ role, pieces }: Ask['turns'][number]): Message[] => {
  const results = pieces.flatMap((piece) =>
    'result' in piece ? [{ role: 'tool', content: piece.result.text, tool_name: piece.result.name }] : [],
  )
  if (results.length > 0) return results
  const images = pieces.flatMap((piece) => ('image' in piece ? [piece.image.data] : []))
  const calls = pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  return [
    {
      role,
      content: pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join(between),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

const toCall = ({ name, args }: NonNullable<Say['calls']>[number]) => ({ function: { name, arguments: { ...args } } })

const toParams = (ask: Ask, model: string): Params => ({
  model,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system', content: ask.system }]), ...ask.turns.flatMap(toMessages)],
  options: { num_predict: ask.maxTokens, ...(ask.stop !== undefined && { stop: [ask.stop] }) },
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function', function: { name, parameters: { ...parameters } } })),
  }),
  ...(ask.schema && { format: { ...ask.schema } }),
  ...(ask.thinks && { think: true }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length' }

function sayOf({ message, done_reason: reason, prompt_eval_count: input, eval_count: output }: ChatResponse): Say {
  const calls = message.tool_calls ?? []
  return {
    ...(message.thinking && { thought: { text: message.thinking, signature: '' } }),
    ...(message.content && { text: message.content }),
    calls: calls.map((call, index) => ({ id: `call_${index}`, name: call.function.name, args: call.function.arguments })),
    stop: calls.length > 0 ? 'tool-calls' : (stops[reason] ?? ('none' as Stop)),
    counts: { input, cached: 0, output, thought: 0 },
  }
}

/** Adds up a stream, as a caller of the client does. */
async function gather(parts: AsyncIterable<ChatResponse>): Promise<ChatResponse> {
  const message: Message = { role: 'assistant', content: '', thinking: '', tool_calls: [] }
  let last: ChatResponse | null = null
  for await (const part of parts) {
    message.content += part.message.content
    message.thinking += part.message.thinking ?? ''
    message.tool_calls?.push(...(part.message.tool_calls ?? []))
    last = part
  }
  if (last?.done !== true) throw new Error('the stream was cut')
  return { ...last, message }
}

/** Ollama's own client, which proves its emulator. */
export function ollamaTalker({ origin, key, model }: Address): Talker {
  const client = new Ollama({ host: origin, headers: { authorization: `Bearer ${key}` } })
  const send = async (params: Params, stream: boolean): Promise<Talk> => {
    const answer = stream ? await gather(await client.chat({ ...params, stream: true })) : await client.chat({ ...params, stream: false })
    const say = sayOf(answer)
    const { content, thinking, tool_calls: calls = [] } = answer.message
    const said: Message = { role: 'assistant', content, ...(thinking && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) }
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
              ...results.map(({ result }) => ({ role: 'tool', content: result.text, tool_name: result.name })),
            ],
          },
          stream,
        ),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask, model), stream) }
}

/** The type of an image is seen in its bytes. */
const typeOf = (data: string): string => (data.startsWith('iVBORw0KGgo') ? 'image/png' : 'unknown')

function heardMessage({ role, content, thinking, images = [], tool_calls: calls = [], tool_name: name }: Message): Lines {
  if (role === 'tool') return [`result ${name} ${content}`]
  const texts = content === '' ? [] : content.split(between)
  return [
    ...(thinking === undefined ? [] : [thoughtLine(thinking, null)]),
    ...(images as readonly string[]).map((data) => `${role} image ${typeOf(data)} ${data}`),
    ...texts.map((text) => (role === 'system' ? `system ${text}` : `${role} text ${text}`)),
    ...calls.map((call) => `assistant call ${call.function.name} ${inOrder(call.function.arguments)}`),
  ]
}

function heard({ json: body }: Received): Lines {
  const asked = body as unknown as Params
  const { format, options } = asked
  return [
    ...asked.messages.flatMap((message) => heardMessage(message)),
    ...heardOf({
      turns: [],
      tools: (asked.tools ?? []).map((tool) => ({ name: tool.function.name ?? '', parameters: { ...tool.function.parameters } })),
      ...(typeof format === 'object' && { schema: { ...format } }),
      thinks: asked.think !== undefined && asked.think !== false,
      ...(options?.stop && { stop: options.stop.join(',') }),
      maxTokens: options?.num_predict ?? -1,
    }),
  ]
}

const head = { model: 'qwen3:8b', created_at: '2026-11-23T10:00:00.000000Z' }
const endOf = (say: Say) => ({
  done: true,
  done_reason: say.stop === 'length' ? 'length' : 'stop',
  total_duration: 5_000_000,
  load_duration: 1_000_000,
  prompt_eval_count: say.counts.input,
  prompt_eval_duration: 1_000_000,
  eval_count: say.counts.output,
  eval_duration: 3_000_000,
})

/** Calls come whole, each in a line of its own; texts in pieces. */
function linesOf(say: Say): readonly object[] {
  const part = (message: object) => ({ ...head, message: { role: 'assistant', content: '', ...message }, done: false })
  return [
    ...(say.thought ? [part({ thinking: say.thought.text })] : []),
    ...Array.from(say.text ?? '', (content) => part({ content })),
    ...(say.calls ?? []).map((call) => part({ tool_calls: [toCall(call)] })),
    { ...head, message: { role: 'assistant', content: '' }, ...endOf(say) },
  ]
}

/** Ollama's own API for chats. */
export const ollamaProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] !== false,
  refusal: refusalOfOllama,
  heard,
  whole: (say) =>
    json({
      ...head,
      message: {
        role: 'assistant',
        content: say.text ?? '',
        ...(say.thought && { thinking: say.thought.text }),
        ...(say.calls && { tool_calls: say.calls.map(toCall) }),
      },
      ...endOf(say),
    }),
  stream: (say) => ({
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
    body: linesOf(say)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  }),
  error: (_, message) => ({ error: message }),
}
