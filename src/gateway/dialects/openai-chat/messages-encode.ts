import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { spendPartBag } from '../leftovers.ts'
import { keepsFile, urlOfMedia } from '../media.ts'
import type { FilePart, ImagePart, Part, ToolCallPart, ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { argumentsJson, hashedId, nineCharacterId } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'
import { reasoningFieldFor } from '../traits.ts'
import { writeAudio } from './audio-encode.ts'
import { writeDetails } from './reasoning-details.ts'

interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
}

/** Writes the messages of a chat. */
export function writeMessages({ system, turns }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const messages: Fields[] = []
  const role = context.traits.developerRole ? 'developer' : 'system'
  if (system.length > 0) messages.push({ role, content: textsOf(system, context).join('\n\n') })
  for (const turn of turns) {
    if (turn.role === 'system') messages.push({ role, content: textsOf(turn.parts, context).join('\n\n') })
    else if (turn.role === 'assistant') addAssistant(messages, turn, context)
    else if (turn.role === 'tool') addResults(messages, turn, context)
    else messages.push({ role: 'user', content: writeContent(turn.parts, context) })
  }
  return messages
}

/** Returns the texts among parts that may hold texts alone. */
function textsOf(parts: readonly Part[], { loss }: WriteContext): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind === 'text' || part.kind === 'refusal') return part.text
    return loss.refuseAt(part.at, 'is no text, and stands where only text may stand')
  })
}

/** Content that is one text goes as a text: not every server takes parts. */
function writeContent(parts: readonly Part[], context: WriteContext): unknown {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'text') {
    spendPartBag(only, 'openai-chat', context.loss)
    return only.text
  }
  return parts.flatMap((part) => writePart(part, context))
}

function writePart(part: Part, context: WriteContext): Fields | readonly Fields[] {
  const { loss } = context
  spendPartBag(part, 'openai-chat', loss)
  if (part.kind === 'text' || part.kind === 'refusal') return { type: 'text', text: part.text }
  if (part.kind === 'image') return writeImage(part, context)
  if (part.kind === 'audio') return writeAudio(part, context)
  if (part.kind === 'file') return writeFile(part, context)
  if (part.kind === 'opaque' && part.dialect === 'openai-chat') return part.raw
  if (part.kind !== 'opaque' && part.kind !== 'reasoning') return loss.refuseAt(part.at, `is ${part.kind}, which has no place there`)
  loss.dropAt(part.at)
  return []
}

function writeImage({ source, detail, at }: ImagePart, { loss }: WriteContext): Fields {
  const url = urlOfMedia(source)
  if (url === null) return loss.refuseAt(at, 'names a file that only its own vendor has')
  return { type: 'image_url', image_url: detail === null ? { url } : { url, detail } }
}

function writeFile({ source, name, at }: FilePart, { loss, traits }: WriteContext): Fields {
  if (source.kind === 'text') return { type: 'text', text: name === null ? source.text : `${name}\n\n${source.text}` }
  if (source.kind === 'id' && keepsFile(source, traits)) return { type: 'file', file: { file_id: source.id } }
  if (source.kind === 'id') return loss.refuseAt(at, 'names a file that only its own vendor has')
  if (traits.documentUrls) return { type: 'document_url', document_url: urlOfMedia(source), ...(name !== null && { document_name: name }) }
  if (source.kind !== 'base64') return loss.refuseAt(at, 'names a file by an address, and this provider takes the bytes alone')
  return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: `data:${source.mediaType};base64,${source.data}` } }
}

const isCall = (part: Part): part is ToolCallPart => part.kind === 'tool-call'

/** An assistant's message has one text and its calls; the format has no order between them. */
function addAssistant(messages: Fields[], { parts }: Turn, context: WriteContext): void {
  const calls = parts.filter((part) => isCall(part))
  const texts: string[] = []
  for (const part of parts) {
    spendPartBag(part, 'openai-chat', context.loss)
    if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
    else if (part.kind !== 'reasoning' && !isCall(part)) dropSaid(part, context)
  }
  const thoughts = writeThoughts(parts, context)
  if (texts.length + calls.length === 0 && thoughts === null) return
  messages.push({
    role: 'assistant',
    content: calls.length > 0 && texts.length === 0 ? null : texts.join(''),
    ...thoughts,
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, context)) }),
  })
}

/** Returns the fields in which reasoning goes back: its text, or the pieces that its vendor signed. Null: there is none that does. */
function writeThoughts(parts: readonly Part[], { traits, model, loss }: WriteContext): Fields | null {
  const field = reasoningFieldFor(traits, model)
  const texts: string[] = []
  const details: Fields[] = []
  for (const part of parts) {
    if (part.kind !== 'reasoning') continue
    const kept = traits.reasoningDetails ? writeDetails(part) : null
    if (kept !== null) details.push(...kept.details)
    if (kept?.holdsText === true) continue
    if (field === null) loss.dropAt(part.at)
    else texts.push(part.text)
  }
  if (texts.length + details.length === 0) return null
  return {
    ...(field !== null && texts.length > 0 && { [field]: texts.join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function dropSaid({ kind, at }: Part, { loss }: WriteContext): void {
  if (kind === 'opaque') loss.dropAt(at)
  else loss.refuseAt(at, 'cannot be said by an assistant there')
}

const writeCall = (call: ToolCallPart, context: WriteContext): Fields => ({
  id: callId(call.id, context),
  type: 'function',
  function: { name: context.nameOf(call.name), arguments: argumentsJson(callArguments(call), call.at, context.loss) },
  ...(call.signature?.origin === 'google' && { extra_content: { google: { thought_signature: call.signature.value } } }),
})

const callId = (id: string, { traits }: WriteContext): string => {
  if (traits.toolIds === 'nine-characters') return nineCharacterId(id)
  return id.length <= 64 ? id : hashedId(id, 24)
}

/** A result may hold texts alone: its other parts follow in a message of the user, behind all results. */
function addResults(messages: Fields[], { parts }: Turn, context: WriteContext): void {
  const shown: Fields[] = []
  for (const part of parts) {
    if (part.kind !== 'tool-result') context.loss.refuseAt(part.at, 'stands among the results of tools')
    else messages.push(writeResult(part, shown, context))
  }
  if (shown.length > 0) messages.push({ role: 'user', content: shown })
}

function writeResult({ callId: called, parts }: ToolResultPart, shown: Fields[], context: WriteContext): Fields {
  const id = callId(called, context)
  const texts: string[] = []
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text)
    else {
      const what = part.kind === 'image' ? 'image' : 'file'
      texts.push(`(The ${what} of this result follows.)`)
      shown.push({ type: 'text', text: `The ${what} that the call ${id} returned:` }, ...[writePart(part, context)].flat())
    }
  }
  return { role: 'tool', tool_call_id: id, content: texts.join('\n') }
}
