import OpenAI from 'openai'
import type {
  Response,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfResponses } from '../../support/dialects/strict-responses.ts'
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
  type Result,
  saidOf,
  type Say,
  type Stop,
  type Talk,
  type Talker,
  thoughtLine,
} from '../talk.ts'

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming

const dataUrl = ({ mime, data }: { readonly mime: string; readonly data: string }) => `data:${mime};base64,${data}`

const toContent = (piece: Piece): ResponseInputContent[] => {
  if ('text' in piece) return [{ type: 'input_text', text: piece.text }]
  if ('image' in piece) return [{ type: 'input_image', image_url: addressOf(piece.image), detail: 'auto' }]
  if ('file' in piece) return [{ type: 'input_file', filename: piece.file.name, file_data: dataUrl(piece.file) }]
  return []
}

const toResult = ({ result }: Result): ResponseInputItem => ({ type: 'function_call_output', call_id: result.id, output: result.text })

function toItems({ role, pieces }: Ask['turns'][number]): ResponseInputItem[] {
  const content = pieces.flatMap(toContent)
  const message: ResponseInputItem[] =
    role === 'user'
      ? [{ type: 'message', role, content }]
      : [{ role: 'assistant', content: pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('') }]
  return [
    ...(content.length === 0 ? [] : message),
    ...pieces.flatMap((piece): ResponseInputItem[] => {
      if ('result' in piece) return [toResult(piece)]
      if (!('call' in piece)) return []
      const { id, name, args } = piece.call
      return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }]
    }),
  ]
}

const toParams = (ask: Ask, model: string): Params & { input: ResponseInputItem[] } => ({
  model,
  store: false,
  max_output_tokens: ask.maxTokens,
  input: ask.turns.flatMap(toItems),
  ...(ask.system !== undefined && { instructions: ask.system }),
  ...(ask.tools && {
    tools: ask.tools.map(({ name, parameters }) => ({ type: 'function' as const, name, parameters: { ...parameters }, strict: false })),
  }),
  ...(ask.schema && { text: { format: { type: 'json_schema' as const, name: 'answer', schema: { ...ask.schema }, strict: true } } }),
  ...(ask.thinks && {
    reasoning: { effort: 'medium' as const, summary: 'auto' as const },
    include: ['reasoning.encrypted_content' as const],
  }),
})

function stopOf({ status, incomplete_details: details, output }: Response): Stop {
  if (status === 'incomplete') return details?.reason === 'max_output_tokens' ? 'length' : 'content-filter'
  if (status !== 'completed') return 'none' as Stop
  return output.some(({ type }) => type === 'function_call') ? 'tool-calls' : 'stop'
}

function sayOf(answer: Response): Say {
  const thought = answer.output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : [])).join('')
  const text = answer.output
    .flatMap((item) => (item.type === 'message' ? item.content.flatMap((part) => (part.type === 'output_text' ? [part.text] : [])) : []))
    .join('')
  return {
    ...(thought !== '' && { thought: { text: thought, signature: '' } }),
    ...(text !== '' && { text }),
    calls: answer.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as Record<string, unknown> }]
        : [],
    ),
    stop: stopOf(answer),
    counts: {
      input: answer.usage?.input_tokens ?? -1,
      cached: answer.usage?.input_tokens_details.cached_tokens ?? -1,
      output: answer.usage?.output_tokens ?? -1,
      thought: answer.usage?.output_tokens_details.reasoning_tokens ?? -1,
    },
  }
}

/** OpenAI's own client, for responses. */
export function responsesTalker({ origin, key, headers, model, extra, signal }: Address): Talker {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const options = signal === undefined ? {} : { signal }
  const send = async (params: Params & { input: ResponseInputItem[] }, stream: boolean): Promise<Talk> => {
    const answer = stream
      ? await client.responses.stream({ ...params, stream: true }, options).finalResponse()
      : await client.responses.create(params, options)
    const say = sayOf(answer)
    const items = answer.output as ResponseInputItem[]
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) => send({ ...params, input: params.input.concat(items, results.map(toResult)) }, stream),
    }
  }
  return { talk: (ask, stream) => send({ ...toParams(ask, model), ...extra }, stream) }
}

function heardContent(role: string, part: ResponseInputContent | OpenAI.Responses.ResponseOutputText): string {
  if ('text' in part) return `${role} text ${part.text}`
  const [kind, url] =
    part.type === 'input_image' ? ['image', part.image_url ?? ''] : ['file', part.type === 'input_file' ? (part.file_data ?? '') : '']
  return `${role} ${kind} ${heardUrl(url)}`
}

function heardItem(item: ResponseInputItem, names: Map<string, string>): Lines {
  if (item.type === 'reasoning') return [thoughtLine(item.summary.map(({ text }) => text).join(''), item.encrypted_content ?? null)]
  if (item.type === 'function_call') return [heardCall({ id: item.call_id, name: item.name, given: item.arguments }, names)]
  if (item.type === 'function_call_output') {
    const said =
      typeof item.output === 'string' ? item.output : item.output.map((part) => ('text' in part ? part.text : part.type)).join('')
    return [`result ${names.get(String(item.call_id)) ?? 'of nothing'} ${said}`]
  }
  if (!('content' in item) || !('role' in item)) return [String(item.type)]
  const role = item.role === 'developer' ? 'system' : item.role
  const parts = (typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content) as ResponseInputContent[]
  return parts.map((part) => heardContent(role, part).replace(/^system text/, 'system'))
}

function heard({ json: body }: Received): Lines {
  const params = body as unknown as Params
  const names = new Map<string, string>()
  const input =
    typeof params.input === 'string' ? [`user text ${params.input}`] : (params.input ?? []).flatMap((item) => heardItem(item, names))
  const format = params.text?.format
  return [
    ...(params.instructions ? [`system ${params.instructions}`] : []),
    ...input,
    ...heardOf({
      turns: [],
      tools: (params.tools ?? []).map((tool) =>
        tool.type === 'function' ? { name: tool.name, parameters: tool.parameters ?? {} } : { name: tool.type, parameters: {} },
      ),
      ...(format?.type === 'json_schema' && { schema: format.schema }),
      thinks: params.reasoning?.effort !== undefined && params.reasoning.effort !== 'none',
      maxTokens: params.max_output_tokens ?? -1,
    }),
  ]
}

const itemsOf = (say: Say): ResponseOutputItem[] => [
  ...(say.thought
    ? [
        {
          type: 'reasoning' as const,
          id: 'rs_1',
          summary: [{ type: 'summary_text' as const, text: say.thought.text }],
          encrypted_content: say.thought.signature,
        },
      ]
    : []),
  ...(say.text === undefined
    ? []
    : [
        {
          type: 'message' as const,
          id: 'msg_1',
          role: 'assistant' as const,
          status: 'completed' as const,
          content: [{ type: 'output_text' as const, text: say.text, annotations: [], logprobs: [] }],
        },
      ]),
  ...(say.calls ?? []).map(({ id, name, args }) => ({
    type: 'function_call' as const,
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed' as const,
  })),
]

const incomplete: Readonly<Partial<Record<Stop, 'max_output_tokens' | 'content_filter'>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
}

function responseOf(say: Say, output: ResponseOutputItem[], isOver = true): Omit<Response, 'output_text'> {
  const reason = incomplete[say.stop]
  return {
    id: 'resp_1',
    access_programs: null,
    object: 'response',
    created_at: 5,
    model: 'gpt-5-pro',
    status: isOver ? (reason === undefined ? 'completed' : 'incomplete') : 'in_progress',
    error: null,
    incomplete_details: isOver && reason !== undefined ? { reason } : null,
    instructions: null,
    metadata: {},
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    ...(isOver && {
      usage: {
        input_tokens: say.counts.input,
        input_tokens_details: { cached_tokens: say.counts.cached, cache_write_tokens: 0 },
        output_tokens: say.counts.output,
        output_tokens_details: { reasoning_tokens: say.counts.thought },
        total_tokens: say.counts.input + say.counts.output,
      },
    }),
  }
}

type Unnumbered = ResponseStreamEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'sequence_number'> : never) : never

function eventsOf(item: ResponseOutputItem, output_index: number): readonly Unnumbered[] {
  const added = (begun: ResponseOutputItem): Unnumbered => ({ type: 'response.output_item.added', output_index, item: begun })
  const done: Unnumbered = { type: 'response.output_item.done', output_index, item }
  const item_id = item.id ?? ''
  if (item.type === 'reasoning') {
    const [part] = item.summary
    const at = { item_id, output_index, summary_index: 0 }
    return [
      added({ ...item, summary: [], encrypted_content: '' }),
      { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: part?.text ?? '' },
      { type: 'response.reasoning_summary_text.done', ...at, text: part?.text ?? '' },
      { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text: part?.text ?? '' } },
      done,
    ]
  }
  if (item.type === 'function_call') {
    const at = { item_id, output_index }
    return [
      added({ ...item, arguments: '', status: 'in_progress' }),
      ...(item.arguments.match(/.{1,5}/g) ?? []).map((delta): Unnumbered => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      done,
    ]
  }
  if (item.type !== 'message') return []
  const [part] = item.content
  if (part?.type !== 'output_text') return []
  const at = { item_id, output_index, content_index: 0 }
  return [
    added({ ...item, content: [], status: 'in_progress' }),
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...Array.from(part.text, (delta): Unnumbered => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
    done,
  ]
}

function streamOf(say: Say): readonly (Unnumbered & { readonly sequence_number: number })[] {
  const output = itemsOf(say)
  const begun = responseOf(say, [], false) as Response
  const events: Unnumbered[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(eventsOf),
    {
      type: incomplete[say.stop] === undefined ? 'response.completed' : 'response.incomplete',
      response: responseOf(say, output) as Response,
    },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

/** OpenAI's API for responses. */
export const responsesProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfResponses,
  heard,
  whole: (say) => json(responseOf(say, itemsOf(say))),
  stream: (say) => sse(streamOf(say).map((event) => [event.type, event] as const)),
  error: (_, message) => ({ error: { message, type: 'some_error', param: null, code: null } }),
}
