import type { AnswerContext } from '../codec.ts'
import { urlOfMedia } from '../media.ts'
import type { BlockEnd, BlockStart, Citation, TokenLogprob } from '../neutral/events.ts'
import type { Finish } from '../neutral/finish.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
import { hashedId } from '../tool-calls.ts'
import { calledIn } from './namespaces.ts'
import { sealReasoning } from './reasoning.ts'
import { responseId } from './response-id.ts'

/** A block of an answer as far as it came. */
export interface ItemState {
  readonly id: string
  readonly block: BlockStart
  readonly text: string
  readonly annotations: readonly object[]
  readonly logprobs: readonly object[]
  /** The group of the tool that is called. */
  readonly namespace: string | null
}

const prefixes: Readonly<Record<BlockStart['kind'], string>> = {
  text: 'msg',
  refusal: 'msg',
  reasoning: 'rs',
  'tool-call': 'fc',
  media: 'ig',
  opaque: 'it',
}

/** The API demands of each type of item that its id begins so, when the conversation goes on there. */
const prefixOf = (block: BlockStart): string => (block.kind === 'tool-call' && block.custom ? 'ctc' : prefixes[block.kind])

export const itemId = (block: BlockStart, requestId: string, index: number): string =>
  `${prefixOf(block)}_${hashedId(`${requestId}:${index}`, 24)}`

/** Writes a note on a text. */
export const writeAnnotation = ({ url, title, start, end }: Citation, length: number): object => ({
  type: 'url_citation',
  url: url ?? '',
  title: title ?? url ?? '',
  start_index: start ?? 0,
  end_index: end ?? length,
})

/** Clients read the bytes of a token as a list: where the provider has none they are those of its text. */
const writeToken = ({ token, bytes, logprob }: TokenLogprob): object => ({ token, bytes: bytes ?? [...Buffer.from(token)], logprob })

/** Writes how probable the tokens of a text were. */
export const writeLogprobs = (tokens: readonly TokenLogprob[]): readonly object[] =>
  tokens.map((one) => Object.assign(writeToken(one), { top_logprobs: one.top.map((other) => writeToken(other)) }))

/** Writes the part of a message that a block is. */
export const writePart = ({ block, text, annotations, logprobs }: ItemState): object =>
  block.kind === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations, logprobs }

/** Writes a block as an item, as it begins (`end` is null) or as it ended; null: it has no counterpart. */
export function writeItem(state: ItemState, end: BlockEnd | null): object | null {
  const { id, block, text } = state
  const status = end === null ? 'in_progress' : 'completed'
  if (block.kind === 'reasoning') return writeReasoning(state, end)
  if (block.kind === 'tool-call') return writeCall(state, block, end)
  if (block.kind === 'opaque') return null
  if (block.kind !== 'media')
    return { id, type: 'message', status, role: 'assistant', content: end === null ? [] : [writePart({ ...state, text })] }
  const result = block.source.kind === 'base64' ? block.source.data : urlOfMedia(block.source)
  return { id, type: 'image_generation_call', status, result }
}

const writeReasoning = ({ id, text }: ItemState, end: BlockEnd | null): object => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  ...(end !== null && { encrypted_content: sealReasoning(end) }),
  status: end === null ? 'in_progress' : 'completed',
})

function writeCall({ id, text, namespace }: ItemState, block: BlockStart & { readonly kind: 'tool-call' }, end: BlockEnd | null): object {
  const rest = { id, call_id: block.id, ...calledIn(namespace, block.name), status: end === null ? 'in_progress' : 'completed' }
  if (block.custom) return { type: 'custom_tool_call', ...rest, input: text }
  return { type: 'function_call', ...rest, arguments: end !== null && text === '' ? '{}' : text }
}

export const writeCounts = ({ input, cacheRead, cacheWrite, output, reasoning }: TokenUsage): object => ({
  input_tokens: input ?? 0,
  input_tokens_details: { cached_tokens: cacheRead ?? 0, ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }) },
  output_tokens: output ?? 0,
  output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  total_tokens: (input ?? 0) + (output ?? 0),
})

const cutShort: Readonly<Partial<Record<Finish['reason'], string>>> = {
  length: 'max_output_tokens',
  context: 'max_output_tokens',
  'content-filter': 'content_filter',
}

/** Returns how a response ended. */
export function endOf(finish: Finish | null): { readonly status: string; readonly incomplete_details: object | null } {
  const reason = finish === null ? undefined : cutShort[finish.reason]
  return reason === undefined ? { status: 'completed', incomplete_details: null } : { status: 'incomplete', incomplete_details: { reason } }
}

interface ResponseHead {
  readonly id: string | null
  readonly model: string | null
  readonly created: number | null
}

/** The fields of a response that repeat the request, with their values when it left them out. */
const repeated: Readonly<Record<string, unknown>> = {
  instructions: null,
  max_output_tokens: null,
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  service_tier: 'auto',
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  user: null,
  metadata: {},
  previous_response_id: null,
  store: false,
}

/** Writes a response around its output; it repeats the request. */
export function writeResponse({ model, created }: ResponseHead, context: AnswerContext, rest: object): object {
  const { requestId, now, request } = context
  const response: Record<string, unknown> = {
    id: responseId(requestId),
    object: 'response',
    created_at: created ?? now,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: model ?? context.model,
    output: [],
    usage: null,
  }
  for (const name of Object.keys(repeated)) response[name] = request.echo[name] ?? repeated[name]
  return Object.assign(response, rest)
}
