import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { base64Media } from '../media.ts'
import type { CacheMark, MediaSource, Part } from '../neutral/parts.ts'
import { textPart } from '../neutral/parts.ts'
import { readSignature } from '../neutral/signature.ts'
import { fieldsAt, fieldsIn, flagIn, neededText, textIn, unreadable } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'

/** Reads a mark that all before it may be kept. */
export const readMark = (mark: unknown): CacheMark | null =>
  isFields(mark) ? { ttl: mark['ttl'] === '1h' ? '1h' : mark['ttl'] === '5m' ? '5m' : null } : null

/** Reads content: a text, or blocks. */
export function readBlocks(content: unknown, at: string): readonly Part[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [textPart(content, at)]
  if (!Array.isArray(content)) throw unreadable(at, 'a string, or a list of blocks')
  return content.flatMap((block, index) => readBlock(fieldsAt(block, `${at}[${index}]`), `${at}[${index}]`))
}

type Reader = (block: Fields, at: string) => Part

const base = (block: Fields, at: string) => ({ at, cache: readMark(block['cache_control']), bag: null })

const readers: Readonly<Record<string, Reader>> = {
  text: (block, at) => textPart(neededText(block, 'text', `${at}.`), at, readMark(block['cache_control'])),
  image: (block, at) => ({ kind: 'image', source: readSource(block, at), detail: null, ...base(block, at) }),
  document: (block, at) => ({
    kind: 'file',
    source: readSource(block, at),
    name: textIn(block, 'title', `${at}.`),
    ...base(block, at),
    bag: documentBag(block),
  }),
  tool_use: (block, at) => ({
    kind: 'tool-call',
    id: neededText(block, 'id', `${at}.`),
    name: neededText(block, 'name', `${at}.`),
    arguments: argumentsText(block['input']),
    custom: false,
    signature: null,
    ...base(block, at),
  }),
  tool_result: (block, at) => ({
    kind: 'tool-result',
    callId: neededText(block, 'tool_use_id', `${at}.`),
    name: null,
    parts: readBlocks(block['content'], `${at}.content`),
    isError: flagIn(block, 'is_error', `${at}.`) ?? false,
    ...base(block, at),
  }),
  thinking: (block, at) => ({
    kind: 'reasoning',
    text: textIn(block, 'thinking', `${at}.`) ?? '',
    signature: readSignature(block['signature'], 'anthropic'),
    redacted: false,
    ...base(block, at),
  }),
  redacted_thinking: (block, at) => ({
    kind: 'reasoning',
    text: '',
    signature: readSignature(block['data'], 'anthropic'),
    redacted: true,
    ...base(block, at),
  }),
  search_result: (block, at) => textPart(searchText(block, at), at, readMark(block['cache_control'])),
}

/** Fields of a document that only Anthropic supports. */
function documentBag(block: Fields) {
  const { citations, context } = block
  const wants = isFields(citations) && citations['enabled'] === true
  if (!wants && typeof context !== 'string') return null
  return { anthropic: { ...(wants && { citations }), ...(typeof context === 'string' && { context }) } }
}

function searchText(block: Fields, at: string): string {
  const texts = readBlocks(block['content'], `${at}.content`).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return [textIn(block, 'title', `${at}.`) ?? '', textIn(block, 'source', `${at}.`) ?? '', ...texts]
    .filter((text) => text !== '')
    .join('\n')
}

function readSource(block: Fields, at: string): MediaSource {
  const source = fieldsIn(block, 'source', `${at}.`) ?? {}
  const place = `${at}.source.`
  switch (textIn(source, 'type', place)) {
    case 'base64':
      return base64Media(textIn(source, 'media_type', place) ?? 'application/octet-stream', neededText(source, 'data', place))
    case 'url':
      return { kind: 'url', url: neededText(source, 'url', place) }
    case 'file':
      return { kind: 'id', dialect: 'anthropic', id: neededText(source, 'file_id', place) }
    case 'text':
      return { kind: 'text', text: neededText(source, 'data', place) }
    case 'content':
      return { kind: 'text', text: contentText(source, place) }
    default:
      throw unreadable(`${place}type`, 'base64, url, file, text or content')
  }
}

const contentText = (source: Fields, place: string): string =>
  readBlocks(source['content'], `${place}content`)
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n')

function readBlock(block: Fields, at: string): readonly Part[] {
  const type = neededText(block, 'type', `${at}.`)
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read === undefined) return [{ kind: 'opaque', dialect: 'anthropic', type, raw: block, ...base(block, at) }]
  const found = read(block, at)
  return found.kind === 'text' && found.text === '' ? [] : [found]
}
