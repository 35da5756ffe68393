import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendPartBag } from '../leftovers.ts'
import { urlOfMedia } from '../media.ts'
import { type FilePart, type ImagePart, isMarked, type Part, type ToolCallPart, type ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { argumentsJson } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'

/** How a conversation is written. */
export interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
  /** The texts that are given as documents beside the conversation. */
  readonly documents: Fields[]
}

/** Writes the conversation. A later instruction stays in its place. */
export function writeMessages({ system, turns }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const messages: Fields[] = []
  if (system.length > 0) messages.push({ role: 'system', content: textOf(system, context) })
  for (const turn of turns) {
    if (turn.role === 'assistant') addAssistant(messages, turn, context)
    else if (turn.role === 'tool') for (const part of turn.parts) messages.push(writeResult(part, context))
    else if (turn.role === 'system') messages.push({ role: 'system', content: textOf(turn.parts, context) })
    else messages.push({ role: 'user', content: writeContent(turn, context) })
  }
  return messages
}

function textOf(parts: readonly Part[], { loss }: WriteContext): string {
  const texts = parts.map((part) => {
    if (part.cache !== null) loss.dropAt('cache_control')
    return part.kind === 'text' ? part.text : loss.refuseAt(part.at, 'is no text, and instructions are texts there')
  })
  return texts.join('\n\n')
}

/** Content that is one text goes as a text; a document goes beside the conversation. */
function writeContent({ parts }: Turn, context: WriteContext): unknown {
  const content = parts.flatMap((part) => writePart(part, context))
  const [only] = content
  if (only === undefined) return '(empty)'
  return content.length === 1 && only['type'] === 'text' ? only['text'] : content
}

function writePart(part: Part, context: WriteContext): readonly Fields[] {
  const { loss } = context
  if (part.cache !== null) loss.dropAt('cache_control')
  spendPartBag(part, 'cohere', loss)
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image':
      return [{ type: 'image_url', image_url: writeImage(part, context) }]
    case 'file':
      context.documents.push(writeDocument(part, context))
      return []
    case 'opaque':
      loss.dropAt(part.at)
      return []
    default:
      return loss.refuseAt(part.at, `is ${part.kind}, which this provider does not take`)
  }
}

const writeImage = ({ source, detail, at }: ImagePart, { loss }: WriteContext): Fields =>
  compact({ url: urlOfMedia(source) ?? loss.refuseAt(at, 'names a file that only its own vendor has'), detail })

function writeDocument({ source, name, at }: FilePart, { loss, documents }: WriteContext): Fields {
  const text =
    source.kind === 'text'
      ? source.text
      : source.kind === 'base64' && source.mediaType.startsWith('text/')
        ? Buffer.from(source.data, 'base64').toString('utf8')
        : loss.refuseAt(at, 'is no text, and documents are texts there')
  return { id: `document-${documents.length}`, data: compact({ title: name, text }) }
}

const isCall = (part: Part): part is ToolCallPart => part.kind === 'tool-call'

/** An assistant's text before its calls is its plan. */
function addAssistant(messages: Fields[], { parts }: Turn, context: WriteContext): void {
  const { loss, nameOf } = context
  const texts: string[] = []
  for (const part of parts) {
    if (part.cache !== null) loss.dropAt('cache_control')
    if (isCall(part)) continue
    if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
    else if (part.kind === 'reasoning' || part.kind === 'opaque') loss.dropAt(part.at)
    else loss.refuseAt(part.at, 'cannot be said by an assistant there')
  }
  const calls = parts.filter((part) => isCall(part))
  const text = texts.join('')
  if (calls.length === 0 && text === '') return
  if (calls.length === 0) messages.push({ role: 'assistant', content: text })
  else
    messages.push({
      role: 'assistant',
      ...(text !== '' && { tool_plan: text }),
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: nameOf(call.name), arguments: argumentsJson(callArguments(call), call.at, loss) },
      })),
    })
}

function writeResult(part: Part, { loss }: WriteContext): Fields {
  if (part.kind !== 'tool-result') return loss.refuseAt(part.at, 'stands among the results of tools')
  if (isMarked(part)) loss.dropAt('cache_control')
  return { role: 'tool', tool_call_id: part.callId, content: resultText(part, loss) }
}

function resultText({ parts }: ToolResultPart, loss: WriteContext['loss']): string {
  const texts = parts.map((part) => {
    if (part.kind === 'text') return part.text
    loss.dropAt(part.at, 'is no text, and results of tools are texts there')
    return `(A result of the kind ${part.kind} cannot be shown.)`
  })
  return texts.join('\n')
}
