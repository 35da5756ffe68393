import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendPartBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { CacheMark, FilePart, ImagePart, MediaSource, Part, ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { argumentsObject, legalId } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'

interface WriteContext extends EncodeContext {
  readonly nameOf: (name: string) => string
}

export const writeMark = (cache: CacheMark | null): Fields | null =>
  cache === null ? null : cache.ttl === null ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: cache.ttl }

/** Returns the instructions, with those that stand in the midst of the conversation at their end. */
export function writeSystem({ system, turns }: NeutralRequest, more: string | null, { loss }: EncodeContext): unknown {
  const blocks: Fields[] = []
  for (const part of system) addInstruction(blocks, part, loss)
  for (const { role, parts, at } of turns) {
    if (role !== 'system') continue
    loss.dropAt(at, 'was moved to the beginning')
    for (const part of parts) addInstruction(blocks, part, loss)
  }
  if (more !== null) blocks.push({ type: 'text', text: more })
  const [only] = blocks
  if (only === undefined) return null
  return blocks.length === 1 && only['cache_control'] === undefined ? only['text'] : blocks
}

function addInstruction(blocks: Fields[], part: Part, loss: Loss): void {
  if (part.kind !== 'text') return loss.refuseAt(part.at, 'is no text, and instructions are texts there')
  if (!isBlank(part.text)) blocks.push(textBlock(part.text, part.cache))
}

const textBlock = (text: string, cache: CacheMark | null): Fields =>
  cache === null ? { type: 'text', text } : { type: 'text', text, cache_control: writeMark(cache) }

const isBlank = (text: string): boolean => !/\S/.test(text)

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: Fields[]
}

const placeholder: Fields = { type: 'text', text: '(empty)' }

/** Writes the conversation: results of tools stand first in the message of the user that follows their calls. */
export function writeMessages({ turns }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const messages: Message[] = []
  for (const turn of turns) {
    if (turn.role === 'system') continue
    const content = writeParts(turn, context)
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (content.length === 0 && turn.role === 'assistant') continue
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: content.length === 0 ? [placeholder] : content })
  }
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: [placeholder] })
  trimLast(messages)
  return messages.map(({ role, content }) => ({ role, content: plainContent(content) }))
}

/** Content that is one text goes as a text. */
function plainContent(content: readonly Fields[]): unknown {
  const [only] = content
  return content.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined ? only['text'] : content
}

/** A beginning of the answer that the caller gives must not end with white space. */
function trimLast(messages: readonly Message[]): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  const text = last.content.at(-1)?.['text']
  if (typeof text === 'string') last.content.splice(-1, 1, { ...last.content.at(-1), text: text.trimEnd() })
}

function writeParts({ parts }: Turn, context: WriteContext): Fields[] {
  const written: Fields[] = []
  for (const part of parts) for (const one of writePart(part, context)) written.push(one)
  return written
}

function writePart(part: Part, context: WriteContext): readonly Fields[] {
  const { loss } = context
  const own = spendPartBag(part, 'anthropic', loss)
  const cache_control = writeMark(part.cache)
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return isBlank(part.text) ? [] : [textBlock(part.text, part.cache)]
    case 'image':
      return [compact({ type: 'image', source: imageSource(part, context), cache_control })]
    case 'file':
      return [compact({ type: 'document', source: fileSource(part, context), title: part.name, ...own, cache_control })]
    case 'tool-call':
      return [compact({ ...writeCall(part, context), cache_control })]
    case 'tool-result':
      return [compact({ ...writeResult(part, context), cache_control })]
    case 'reasoning':
      return writeReasoning(part, context)
    case 'opaque':
      if (part.dialect === 'anthropic') return [part.raw]
      loss.dropAt(part.at)
      return []
    default:
      return loss.refuseAt(part.at, `is ${part.kind}, which this provider does not take`)
  }
}

const writeCall = (part: Part & { readonly kind: 'tool-call' }, { loss, nameOf }: WriteContext): Fields => ({
  type: 'tool_use',
  id: callId(part.id),
  name: nameOf(part.name),
  input: argumentsObject(callArguments(part), part.at, loss),
})

const callId = (id: string): string => legalId(id, /^[A-Za-z0-9_-]{1,256}$/, 24)

/** A result without content has none: an empty text would be refused. */
function writeResult({ callId: id, parts, isError }: ToolResultPart, context: WriteContext): Fields {
  const content = parts.flatMap((part) => writePart(part, context))
  return {
    type: 'tool_result',
    tool_use_id: callId(id),
    content: content.length === 0 ? null : plainContent(content),
    is_error: isError ? true : null,
  }
}

/** Only parts that Claude itself signed go back to it. */
function writeReasoning(
  { text, signature, redacted, at }: Part & { readonly kind: 'reasoning' },
  { loss }: WriteContext,
): readonly Fields[] {
  if (signature?.origin === 'anthropic')
    return redacted
      ? [{ type: 'redacted_thinking', data: signature.value }]
      : [{ type: 'thinking', thinking: text, signature: signature.value }]
  loss.dropAt(at, 'is reasoning that another model signed, or none')
  return []
}

const images: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function imageSource({ source, detail, at }: ImagePart, { loss }: WriteContext): Fields {
  if (detail !== null && detail !== 'auto') loss.dropAt(`${at}.detail`)
  if (source.kind === 'base64' && !images.has(source.mediaType))
    return loss.refuseAt(at, `is of the type ${source.mediaType}, and this provider takes jpeg, png, gif and webp`)
  return writeSource(source) ?? loss.refuseAt(at, 'names a file that only its own vendor has')
}

function fileSource({ source, at }: FilePart, { loss }: WriteContext): Fields {
  if (source.kind === 'text') return { type: 'text', media_type: 'text/plain', data: source.text }
  if (source.kind === 'base64' && source.mediaType.startsWith('text/'))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString('utf8') }
  if (source.kind === 'base64' && source.mediaType !== 'application/pdf')
    return loss.refuseAt(at, `is of the type ${source.mediaType}, and this provider takes PDFs and plain texts`)
  return writeSource(source) ?? loss.refuseAt(at, 'names a file that only its own vendor has')
}

function writeSource(source: MediaSource): Fields | null {
  if (source.kind === 'url') return { type: 'url', url: source.url }
  if (source.kind === 'base64') return { type: 'base64', media_type: source.mediaType, data: source.data }
  return source.kind === 'id' && source.dialect === 'anthropic' ? { type: 'file', file_id: source.id } : null
}
