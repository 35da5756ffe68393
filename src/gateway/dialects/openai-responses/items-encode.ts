import type { Fields } from '../../../lib/json/fields.ts'
import { compact } from '../compact.ts'
import type { EncodeContext } from '../codec.ts'
import { spendPartBag } from '../leftovers.ts'
import { keepsFile, urlOfMedia } from '../media.ts'
import type { FilePart, ImagePart, Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { hashedId } from '../tool-calls.ts'
import { readSealed } from './sealed-item.ts'

interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
}

interface ItemsContext extends WriteContext {
  readonly items: Fields[]
  /** The ids of calls whose tools take a plain text. */
  readonly customs: Set<string>
}

/** Writes a conversation as instructions and items. */
export function writeItems({ system, turns }: NeutralRequest, context: WriteContext): Fields {
  const writing: ItemsContext = { ...context, items: [], customs: new Set() }
  for (const turn of turns) writeTurn(turn, writing)
  const instructions = textsOf(system, context)
  return compact({ instructions: instructions === '' ? null : instructions, input: writing.items })
}

/** Returns the texts among parts that may hold texts alone. */
function textsOf(parts: readonly Part[], { loss }: WriteContext): string {
  const texts = parts.map((part) =>
    part.kind === 'text' || part.kind === 'refusal'
      ? part.text
      : loss.refuseAt(part.at, 'is no text, and stands where only text may stand'),
  )
  return texts.join('\n\n')
}

function writeTurn({ role, parts }: Turn, writing: ItemsContext): void {
  const { items } = writing
  if (role === 'system') items.push({ type: 'message', role: 'developer', content: textsOf(parts, writing) })
  else if (role === 'user') items.push({ type: 'message', role: 'user', content: parts.flatMap((part) => writePart(part, writing)) })
  else if (role === 'assistant') for (const part of parts) writeSaid(part, writing)
  else for (const part of parts) writeResult(part, writing)
}

function writePart(part: Part, context: WriteContext): Fields | readonly Fields[] {
  const { loss } = context
  spendPartBag(part, 'openai-responses', loss)
  if (part.kind === 'text' || part.kind === 'refusal') return { type: 'input_text', text: part.text }
  if (part.kind === 'image') return writeImage(part, context)
  if (part.kind === 'file') return writeFile(part, context)
  if (part.kind !== 'opaque' && part.kind !== 'reasoning') return loss.refuseAt(part.at, `is ${part.kind}, which has no place there`)
  loss.dropAt(part.at)
  return []
}

function writeImage({ source, detail, at }: ImagePart, { loss, traits }: WriteContext): Fields {
  if (source.kind === 'id' && keepsFile(source, traits)) return { type: 'input_image', file_id: source.id, detail: detail ?? 'auto' }
  const url = urlOfMedia(source)
  return url === null
    ? loss.refuseAt(at, 'names a file that only its own vendor has')
    : { type: 'input_image', image_url: url, detail: detail ?? 'auto' }
}

function writeFile({ source, name, at }: FilePart, { loss, traits }: WriteContext): Fields {
  if (source.kind === 'text') return { type: 'input_text', text: name === null ? source.text : `${name}\n\n${source.text}` }
  if (source.kind === 'url') return { type: 'input_file', file_url: source.url }
  if (source.kind === 'base64')
    return { type: 'input_file', filename: name ?? 'document.pdf', file_data: `data:${source.mediaType};base64,${source.data}` }
  if (keepsFile(source, traits)) return { type: 'input_file', file_id: source.id }
  return loss.refuseAt(at, 'names a file that only its own vendor has')
}

/** Writes the parts of an assistant, in their order. */
function writeSaid(part: Part, writing: ItemsContext): void {
  const { items, loss } = writing
  spendPartBag(part, 'openai-responses', loss)
  if (part.kind === 'text' || part.kind === 'refusal') say(part.text, items)
  else if (part.kind === 'tool-call') items.push(writeCall(part, writing))
  else if (part.kind === 'reasoning') writeReasoning(part, writing)
  else if (part.kind === 'opaque') loss.dropAt(part.at)
  else loss.refuseAt(part.at, 'cannot be said by an assistant there')
}

function say(text: string, items: Fields[]): void {
  const last = items.at(-1)
  if (last?.['role'] === 'assistant' && typeof last['content'] === 'string')
    items[items.length - 1] = { ...last, content: last['content'] + text }
  else items.push({ type: 'message', role: 'assistant', content: text })
}

/** Reasoning goes back only where OpenAI sealed it: the API takes no other. */
function writeReasoning({ text, signature, at }: ReasoningPart, { items, loss }: ItemsContext): void {
  const sealed = signature?.origin === 'openai' ? readSealed(signature.value) : null
  if (sealed === null) return loss.dropAt(at)
  const { id, encrypted } = sealed
  items.push({ type: 'reasoning', id, summary: text === '' ? [] : [{ type: 'summary_text', text }], encrypted_content: encrypted })
}

const idOf = (id: string): string => (id.length <= 64 ? id : hashedId(id, 24))

function writeCall({ id, name, custom, arguments: given }: ToolCallPart, { nameOf, customs }: ItemsContext): Fields {
  const rest = { call_id: idOf(id), name: nameOf(name) }
  if (!custom) return { type: 'function_call', ...rest, arguments: given || '{}' }
  customs.add(id)
  return { type: 'custom_tool_call', ...rest, input: given }
}

function writeResult(part: Part, writing: ItemsContext): void {
  if (part.kind !== 'tool-result') return writing.loss.refuseAt(part.at, 'stands among the results of tools')
  const type = writing.customs.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output'
  writing.items.push({ type, call_id: idOf(part.callId), output: writeOutput(part, writing) })
}

function writeOutput({ parts }: ToolResultPart, context: WriteContext): unknown {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : parts.flatMap((part) => writePart(part, context))
}
