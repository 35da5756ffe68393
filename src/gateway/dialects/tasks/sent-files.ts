import type { Fields } from '../../../lib/json/fields.ts'
import { readForm } from '../../wire/form.ts'
import type { SentFile } from './task.ts'

/** A form: its texts by name, and its files. */
export interface SentForm {
  readonly body: Fields
  readonly files: readonly SentFile[]
}

/** Reads a form; null when it is written in an unusual way. */
export function sentForm(bytes: Buffer, contentType: string): SentForm | null {
  const fields = readForm(bytes, contentType)
  if (fields === null) return null
  const body: Record<string, unknown> = {}
  const files: SentFile[] = []
  for (const { name, text, start, end } of fields)
    if (text !== null) body[name] = text
    else {
      const content = bytes.subarray(start, end)
      files.push({ name, mediaType: mediaTypeOf(content), bytes: content })
    }
  return { body, files }
}

/** The first bytes of files, their offset, and their media type. */
const signs: readonly (readonly [at: number, sign: string, mediaType: string])[] = [
  [8, 'WAVE', 'audio/wav'],
  [8, 'WEBP', 'image/webp'],
  [1, 'PNG', 'image/png'],
  [0, '\u00FF\u00D8\u00FF', 'image/jpeg'],
  [0, 'ID3', 'audio/mpeg'],
  [0, '\u00FF\u00FB', 'audio/mpeg'],
  [0, '\u00FF\u00F3', 'audio/mpeg'],
  [0, 'fLaC', 'audio/flac'],
  [0, 'OggS', 'audio/ogg'],
  [4, 'ftyp', 'audio/mp4'],
  [0, '\u001A\u0045\u00DF\u00A3', 'audio/webm'],
]

/** Returns the type of a file by its first bytes: its sender's name for it may be wrong. */
function mediaTypeOf(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, 16)
  return signs.find(([at, sign]) => head.startsWith(sign, at))?.[2] ?? 'application/octet-stream'
}
