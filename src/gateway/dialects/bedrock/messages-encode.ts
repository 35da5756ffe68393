import type { Fields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendPartBag } from '../leftovers.ts'
import type { CacheMark, FilePart, MediaSource, Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../neutral/parts.ts'
import type { NeutralRequest, Turn } from '../neutral/request.ts'
import { argumentsObject, legalId, nineCharacterId } from '../tool-calls.ts'
import { callArguments } from '../tools.ts'
import type { Family } from './model-facts.ts'

/** How a conversation is written. */
export interface WriteContext extends EncodeContext {
  readonly family: Family
  readonly nameOf: (name: string) => string
  /** Returns the mark behind the part to be cached; null: none, or the model takes no more of them. */
  readonly mark: (cache: CacheMark | null) => Fields | null
  /** The names of documents that were given so far, each of which must be another, with the next number of each. */
  readonly documents: Map<string, number>
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: Fields[]
}

const placeholder: Fields = { text: '(empty)' }

const isBlank = (text: string): boolean => text.trim() === ''

/** Returns a block with the mark that it and all before it may be kept. */
const marked = (blocks: readonly Fields[], mark: Fields | null): readonly Fields[] =>
  mark === null || blocks.length === 0 ? blocks : [...blocks, mark]

/** Writes instructions, with those that stand in the midst of the conversation at their end. */
export function writeSystem(
  { system, turns }: NeutralRequest,
  more: string | null,
  { loss, mark }: WriteContext,
): readonly Fields[] | null {
  const later = turns.filter(({ role }) => role === 'system')
  for (const { at } of later) loss.dropAt(at, 'was moved to the beginning')
  const blocks = [...system, ...later.flatMap(({ parts }) => parts)].flatMap((part) => {
    if (part.kind !== 'text') return loss.refuseAt(part.at, 'is no text, and instructions are texts there')
    return isBlank(part.text) ? [] : marked([{ text: part.text }], mark(part.cache))
  })
  if (more !== null) blocks.push({ text: more })
  return blocks.length === 0 ? null : blocks
}

/** Writes the conversation: users and the assistant take turns, and results stand first in the message behind their calls. */
export function writeMessages({ turns, cache }: NeutralRequest, context: WriteContext): readonly Fields[] {
  const messages: Message[] = []
  for (const turn of turns) {
    if (turn.role === 'system') continue
    add(messages, { role: turn.role === 'assistant' ? 'assistant' : 'user', content: writeTurn(turn, context) })
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [placeholder] })
  for (const { content } of messages) nameDocument(content)
  const whole = context.mark(cache)
  if (whole !== null) messages.at(-1)?.content.push(whole)
  trimLast(messages)
  return messages.map(({ role, content }) => ({ role, content }))
}

function add(messages: Message[], message: Message): void {
  const last = messages.at(-1)
  if (last?.role === message.role) last.content.push(...message.content)
  else if (message.content.length > 0) messages.push(message)
  else if (message.role === 'user') messages.push({ role: 'user', content: [placeholder] })
}

/** A document must have a text beside it. */
function nameDocument(content: Fields[]): void {
  if (content.some((block) => 'document' in block) && !content.some((block) => 'text' in block)) content.push(placeholder)
}

/** A beginning of the answer that the caller gives must not end with white space. */
function trimLast(messages: readonly Message[]): void {
  const last = messages.at(-1)
  const text = last?.content.at(-1)?.['text']
  if (last?.role === 'assistant' && typeof text === 'string') last.content.splice(-1, 1, { text: text.trimEnd() })
}

/** An assistant's calls stand behind its text. */
function writeTurn({ role, parts }: Turn, context: WriteContext): Fields[] {
  const ordered = role === 'assistant' ? [...parts.filter((part) => !isCall(part)), ...parts.filter((part) => isCall(part))] : parts
  return ordered.flatMap((part) => marked(writePart(part, context), context.mark(markOf(part))))
}

/** Marks cannot stand within a result: the last one of those there stands behind it. */
const markOf = (part: Part): CacheMark | null =>
  part.cache ?? (part.kind === 'tool-result' ? (part.parts.findLast(({ cache }) => cache !== null)?.cache ?? null) : null)

const isCall = (part: Part): part is ToolCallPart => part.kind === 'tool-call'

function writePart(part: Part, context: WriteContext): readonly Fields[] {
  const { loss } = context
  spendPartBag(part, 'bedrock', loss)
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return isBlank(part.text) ? [] : [{ text: part.text }]
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return [writeMediaPart(part, context)]
    case 'tool-call':
      return [{ toolUse: writeCall(part, context) }]
    case 'tool-result':
      return [{ toolResult: writeResult(part, context) }]
    case 'reasoning':
      return writeReasoning(part, context)
    default:
      if (part.dialect === 'bedrock') return [part.raw]
      loss.dropAt(part.at)
      return []
  }
}

function writeMediaPart(part: Media, context: WriteContext): Fields {
  if (part.kind === 'file') return { document: writeDocument(part, context) }
  if (part.kind === 'image' && part.detail !== null && part.detail !== 'auto') context.loss.dropAt(`${part.at}.detail`)
  return { [part.kind]: writeMedia(part.source, part, context) }
}

const callId = (id: string, { family }: WriteContext): string =>
  family === 'mistral' ? nineCharacterId(id) : legalId(id, /^[A-Za-z0-9_-]{1,64}$/, 24)

const writeCall = (part: ToolCallPart, context: WriteContext): Fields => ({
  toolUseId: callId(part.id, context),
  name: context.nameOf(part.name),
  input: argumentsObject(callArguments(part), part.at, context.loss),
})

function writeResult({ callId: id, parts, isError }: ToolResultPart, context: WriteContext): Fields {
  const content = parts.flatMap((part) => writePart(part, context))
  return compact({
    toolUseId: callId(id, context),
    content: content.length === 0 ? [{ text: '(no output)' }] : content,
    status: isError ? 'error' : null,
  })
}

/** Only reasoning that Claude signed goes back, and parts that Bedrock itself sealed. */
function writeReasoning({ text, signature, redacted, at }: ReasoningPart, { loss }: WriteContext): readonly Fields[] {
  if (signature?.origin === 'bedrock' && redacted) return [{ reasoningContent: { redactedContent: signature.value } }]
  if (signature?.origin === 'anthropic' && !redacted) return [{ reasoningContent: { reasoningText: { text, signature: signature.value } } }]
  loss.dropAt(at, 'is reasoning that another model signed, or none')
  return []
}

/** The names of formats, where they are not the second half of the media type. */
const formats: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/3gpp': 'three_gp',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
}

const known: Readonly<Record<'image' | 'audio' | 'video' | 'file', ReadonlySet<string>>> = {
  image: new Set(['png', 'jpeg', 'gif', 'webp']),
  audio: new Set(['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'webm', 'mp4', 'm4a']),
  video: new Set(['mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp']),
  file: new Set(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']),
}

type Media = Extract<Part, { readonly kind: keyof typeof known }>

function formatOf(mediaType: string, { kind, at }: Media, { loss }: WriteContext): string {
  const format = formats[mediaType] ?? mediaType.slice(mediaType.indexOf('/') + 1)
  if (known[kind].has(format)) return format
  return loss.refuseAt(at, `is of the type ${mediaType.slice(0, 60)}, and this provider takes ${[...known[kind]].join(', ')}`)
}

/** Bedrock takes bytes, and objects of S3. */
function writeMedia(source: MediaSource, part: Media, context: WriteContext): Fields {
  if (source.kind === 'base64') return { format: formatOf(source.mediaType, part, context), source: { bytes: source.data } }
  if (source.kind === 'text') return { format: 'txt', source: { bytes: Buffer.from(source.text).toString('base64') } }
  if (source.kind === 'id') return context.loss.refuseAt(part.at, 'names a file that only its own vendor has')
  if (!source.url.startsWith('s3://')) return context.loss.refuseAt(part.at, 'must be a data URL: this provider opens no addresses')
  const ending = /\.([a-z0-9]+)$/i.exec(source.url)?.[1]?.toLowerCase() ?? ''
  return { format: formatOf(`x/${ending === 'jpg' ? 'jpeg' : ending}`, part, context), source: { s3Location: { uri: source.url } } }
}

function writeDocument(part: FilePart, context: WriteContext): Fields {
  return { ...writeMedia(part.source, part, context), name: documentName(part.name, context.documents) }
}

/** Returns a name of letters, digits, single spaces, hyphens and brackets, which no other document of the request has. */
function documentName(given: string | null, taken: Map<string, number>): string {
  const plain = (given ?? 'document')
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replaceAll(/[^A-Za-z0-9\-()[\] ]+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim()
    .slice(0, 180)
  const base = plain === '' ? 'document' : plain
  let number = taken.get(base) ?? 1
  let name = number === 1 ? base : `${base} ${number}`
  while (taken.has(name)) {
    number += 1
    name = `${base} ${number}`
  }
  if (name !== base) taken.set(name, 2)
  taken.set(base, number + 1)
  return name
}
