import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { base64Media, mediaOfUrl } from '../media.ts'
import type { CacheMark, MediaSource, Part } from '../neutral/parts.ts'
import { textPart } from '../neutral/parts.ts'
import { fieldsAt, fieldsIn, neededText, textIn, unreadable } from '../reading.ts'

/** Returns the mark that clients with support for Claude put on messages, parts and tools, or OpenAI's own. */
export function cacheMarkIn(from: Fields): CacheMark | null {
  const mark = from['cache_control']
  if (isFields(mark)) return { ttl: mark['ttl'] === '1h' ? '1h' : mark['ttl'] === '5m' ? '5m' : null }
  return isFields(from['prompt_cache_breakpoint']) ? { ttl: null } : null
}

/** Reads the content of a message: a text, or parts. */
export function readContent(content: unknown, at: string, cache: CacheMark | null): readonly Part[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [textPart(content, at, cache)]
  if (!Array.isArray(content)) throw unreadable(at, 'a string, or a list of parts')
  const parts = content.flatMap((part, index) => readPart(fieldsAt(part, `${at}[${index}]`), `${at}[${index}]`))
  const last = parts.at(-1)
  return cache === null || last === undefined || last.cache !== null ? parts : [...parts.slice(0, -1), { ...last, cache }]
}

type Reader = (part: Fields, at: string) => Part

const base = (part: Fields, at: string) => ({ at, cache: cacheMarkIn(part), bag: null })

const readers: Readonly<Record<string, Reader>> = {
  text: (part, at) => textPart(neededText(part, 'text', `${at}.`), at, cacheMarkIn(part)),
  image_url: (part, at) => {
    const image = part['image_url']
    const fields = isFields(image) ? image : { url: image }
    return {
      kind: 'image',
      source: mediaOfUrl(neededText(fields, 'url', `${at}.image_url.`)),
      detail: textIn(fields, 'detail', `${at}.image_url.`),
      ...base(part, at),
    }
  },
  video_url: (part, at) => {
    const video = fieldsIn(part, 'video_url', `${at}.`) ?? {}
    return { kind: 'video', source: mediaOfUrl(neededText(video, 'url', `${at}.video_url.`)), ...base(part, at) }
  },
  input_audio: (part, at) => {
    const audio = fieldsIn(part, 'input_audio', `${at}.`) ?? {}
    const format = textIn(audio, 'format', `${at}.input_audio.`) ?? 'wav'
    const source = base64Media(format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, neededText(audio, 'data', `${at}.input_audio.`))
    return { kind: 'audio', source, ...base(part, at) }
  },
  file: (part, at) => {
    const file = fieldsIn(part, 'file', `${at}.`) ?? {}
    return { kind: 'file', source: fileSource(file, `${at}.file`), name: textIn(file, 'filename', `${at}.file.`), ...base(part, at) }
  },
  refusal: (part, at) => ({ kind: 'refusal', text: neededText(part, 'refusal', `${at}.`), ...base(part, at) }),
  thinking: (part, at) => ({
    kind: 'reasoning',
    text: textIn(part, 'thinking', `${at}.`) ?? '',
    signature: null,
    redacted: false,
    ...base(part, at),
  }),
}

function fileSource(file: Fields, at: string): MediaSource {
  const id = textIn(file, 'file_id', `${at}.`)
  if (id !== null) return { kind: 'id', dialect: 'openai-chat', id }
  const data = neededText(file, 'file_data', `${at}.`)
  return data.startsWith('data:') ? mediaOfUrl(data) : base64Media('application/pdf', data)
}

function readPart(part: Fields, at: string): readonly Part[] {
  const type = textIn(part, 'type', `${at}.`) ?? 'text'
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read === undefined) return [{ kind: 'opaque', dialect: 'openai-chat', type, raw: part, ...base(part, at) }]
  const found = read(part, at)
  return found.kind === 'text' && found.text === '' ? [] : [found]
}
