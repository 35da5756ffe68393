import type { AnswerContext } from '../codec.ts'
import { urlOfMedia } from '../media.ts'
import type { AnswerBlock, AnswerChoice, NeutralAnswer } from '../neutral/answer.ts'
import { finishOf } from '../neutral/finish.ts'
import { writeSignature } from '../neutral/signature.ts'
import { hashedId } from '../tool-calls.ts'
import { writeCitation, writeLogprobs } from './answer-parts.ts'
import { writeCounts } from './counts.ts'
import { writeFinish } from './finish.ts'

/** Writes a whole answer. */
export function encodeAnswer(answer: NeutralAnswer, context: AnswerContext): object {
  const { requestId, now, model, request } = context
  const isOld = request.echo['functions'] === true
  return {
    id: answer.id ?? madeId(requestId),
    object: 'chat.completion',
    created: answer.created ?? now,
    model: answer.model ?? model,
    choices: answer.choices.map((choice, index) => writeChoice(choice, index, isOld)),
    ...(answer.usage !== null && { usage: writeCounts(answer.usage) }),
    ...(answer.tier !== null && { service_tier: answer.tier }),
  }
}

/** Returns the id of an answer whose provider gave none. */
export const madeId = (requestId: string): string => `chatcmpl-${hashedId(requestId, 24)}`

function writeChoice({ blocks, finish }: AnswerChoice, index: number, isOld: boolean): object {
  const logprobs = blocks.flatMap((block) => block.logprobs)
  return {
    index,
    message: writeMessage(blocks, { isOld, explanation: finish?.explanation ?? null }),
    logprobs: writeLogprobs(logprobs),
    finish_reason: writeFinish(finish ?? finishOf('stop'), isOld),
  }
}

function textOf(blocks: readonly AnswerBlock[], kind: AnswerBlock['block']['kind']): string | null {
  let all: string | null = null
  for (const { block, text } of blocks) if (block.kind === kind) all = all === null ? text : all + text
  return all
}

interface MessageOptions {
  readonly isOld: boolean
  readonly explanation: string | null
}

function writeMessage(blocks: readonly AnswerBlock[], { isOld, explanation }: MessageOptions): object {
  const calls = blocks.flatMap((block) => writeCall(block))
  const text = textOf(blocks, 'text')
  const refusal = textOf(blocks, 'refusal') ?? explanation
  return {
    role: 'assistant',
    content: text ?? (calls.length > 0 || refusal !== null ? null : ''),
    refusal,
    ...writeBeside(blocks),
    ...(calls.length > 0 && (isOld ? { function_call: oldCall(calls[0]) } : { tool_calls: calls })),
  }
}

/** Returns the fields of a message beside its text and its calls, as far as it has them. */
function writeBeside(blocks: readonly AnswerBlock[]): object {
  const reasoning = textOf(blocks, 'reasoning') ?? ''
  const annotations = writeAnnotations(blocks)
  const thinking = writeAllThinking(blocks)
  const images = blocks.flatMap(({ block }) =>
    block.kind === 'media' && block.media === 'image' ? [{ type: 'image_url', image_url: { url: urlOfMedia(block.source) } }] : [],
  )
  return {
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(annotations.length > 0 && { annotations }),
    ...(images.length > 0 && { images }),
  }
}

function writeAllThinking(blocks: readonly AnswerBlock[]): readonly object[] {
  const after = { text: 0, calls: 0 }
  return blocks.flatMap((block) => {
    if (block.block.kind === 'text') after.text += block.text.length
    if (block.block.kind === 'tool-call') after.calls += 1
    return writeThinking(block.text, block, after)
  })
}

/** The place of a block in its message: behind so many characters of `content`, and so many calls. */
export interface ThinkingPlace {
  readonly text: number
  readonly calls: number
}

/** Returns a block of reasoning with its signature, for clients that return it; none when it is unsigned. */
export function writeThinking(
  text: string,
  { block, end }: Pick<AnswerBlock, 'block' | 'end'>,
  { text: after, calls }: ThinkingPlace,
): readonly object[] {
  if (block.kind !== 'reasoning' || end.signature === null) return []
  const signature = writeSignature(end.signature, 'anthropic')
  const place = (after > 0 || calls > 0) && { after: { text: after, calls } }
  return [
    end.redacted ? { type: 'redacted_thinking', data: signature, ...place } : { type: 'thinking', thinking: text, signature, ...place },
  ]
}

interface WrittenCall {
  readonly id: string
  readonly type: string
  readonly function?: object
  readonly custom?: object
  readonly extra_content?: object
}

/** Returns a call in the form of `functions`: the fields that go back with it stand within. */
const oldCall = (call: WrittenCall | undefined): object | undefined =>
  call?.extra_content === undefined ? call?.function : { ...call.function, extra_content: call.extra_content }

function writeCall({ block, text, end }: AnswerBlock): readonly WrittenCall[] {
  if (block.kind !== 'tool-call') return []
  const { id, name, custom } = block
  const extra = end.signature?.origin === 'google' && { extra_content: { google: { thought_signature: end.signature.value } } }
  if (custom) return [{ id, type: 'custom', custom: { name, input: text }, ...extra }]
  return [{ id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...extra }]
}

/** A block's citations count from its beginning, those of a message from the message's. */
function writeAnnotations(blocks: readonly AnswerBlock[]): readonly object[] {
  const notes: object[] = []
  let offset = 0
  for (const { block, text, citations } of blocks) {
    if (block.kind !== 'text') continue
    for (const citation of citations) notes.push(writeCitation(citation, offset, text.length))
    offset += text.length
  }
  return notes
}
