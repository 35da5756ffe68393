import { isFields, type Fields } from '../../lib/json/fields.ts'
import type { RequestBody } from '../wire/body.ts'

/** Of a picture whose size nobody measures. */
export const tokensOfPicture = 1600
/** A second of speech has at least 2,000 bytes, 16 kbit/s, and 32 tokens. Base64 writes three bytes as four. */
const audioCharactersPerToken = (2000 * 4) / 3 / 32

/** A prompt as it is estimated before it is sent. */
export interface InputBound {
  readonly tokens: number
  /** True when it names parts that are not in the body, such as a file or an earlier response: it may fill the window. */
  readonly isOpen: boolean
}

/** Estimates the tokens of a prompt from the bytes of its body. */
export function inputBound(body: RequestBody): InputBound {
  const { bytes, json } = body
  if (bytes === null) return { tokens: tokensOfText(body.length ?? 0), isOpen: false }
  const { pictures, audio, characters, isOpen } = isFields(json) && mayHaveParts(bytes) ? partsOf(json) : noParts
  const text = tokensOfText(Math.max(0, bytes.length - characters), bytesPerToken(bytes))
  return { tokens: text + pictures * tokensOfPicture + Math.ceil(audio / audioCharactersPerToken), isOpen }
}

/** Prose and code have three bytes and more for a token; digits, JSON, and scripts of other letters may have two. */
const prose = 3
const dense = 2
/** The frame of a request is most of a body that is shorter, and no model reads it. */
const shortest = 1024

/** Estimates the tokens of a text from its bytes. */
export const tokensOfText = (bytes: number, perToken = prose): number => Math.ceil(bytes / perToken)

/** So many bytes of a body are looked at. */
const samples = 512

/** Returns the bytes for a token: fewer when more than a fifth of the characters are digits, punctuation, or neither ASCII nor Latin. */
function bytesPerToken(bytes: Buffer): number {
  if (bytes.length < shortest) return prose
  const step = Math.floor(bytes.length / samples)
  let looked = 0
  let found = 0
  for (let at = 0; at < bytes.length; at += step) {
    const kind = kinds[bytes[at] ?? 0] ?? plain
    if (kind === within) continue
    looked += 1
    found += kind
  }
  return found * 5 > looked ? dense : prose
}

const [plain, rare, within] = [0, 1, 2] as const

/** The kind of character that each byte of UTF-8 stands for. Latin letters with accents begin with C3 to C9. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte < 0xc0 ? within : byte < 0xca ? plain : rare
  return byte <= 0x20 || /[A-Za-z]/.test(String.fromCharCode(byte)) ? plain : rare
})

/** The parts of a request that are no text. */
interface Parts {
  pictures: number
  /** The characters of sound in base64. */
  audio: number
  /** The characters of pictures and sound, which are no text. */
  characters: number
  isOpen: boolean
}

const noParts: Readonly<Parts> = { pictures: 0, audio: 0, characters: 0, isOpen: false }

/** Nearly no request has one of these: only bodies that do are looked through. */
const names = [
  '"image',
  '"input_audio"',
  '"inlineData"',
  '"inline_data"',
  '"previous_response_id"',
  '"conversation"',
  '"file',
  '"s3Location"',
]
const mayHaveParts = (bytes: Buffer): boolean => names.some((name) => bytes.includes(name))

/** The fields in which prompts stand, in all formats. Tools may have parameters of any name. */
const promptFields = ['input', 'messages', 'contents', 'system', 'systemInstruction'] as const
const openFields: ReadonlySet<string> = new Set(['file_id', 'fileId', 'file_uri', 'fileUri', 's3Location'])

function partsOf(json: Fields): Parts {
  const parts = { ...noParts, isOpen: (json['previous_response_id'] ?? json['conversation'] ?? null) !== null }
  for (const field of promptFields) look(json[field], parts, 0)
  return parts
}

/** Parts of contents of results of messages of a body. */
const deepest = 10

function look(value: unknown, parts: Parts, depth: number): void {
  if (depth > deepest) return
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) look(one, parts, depth + 1)
  else if (isFields(value)) lookInto(value, parts, depth)
}

function lookInto(fields: Fields, parts: Parts, depth: number): void {
  for (const name in fields) {
    const held = fields[name]
    const media = mediaOf(name, held, fields)
    if (media === null) {
      if (openFields.has(name) && held !== null) parts.isOpen = true
      look(held, parts, depth + 1)
      continue
    }
    const length = longestText(held)
    parts.characters += length
    if (media === 'audio') parts.audio += length
    else parts.pictures += 1
  }
}

/** The fields that may hold a picture or sound, by what they hold. */
const mediaFields: Readonly<Record<string, (held: unknown, of: Fields) => 'image' | 'audio' | null>> = {
  image_url: () => 'image',
  image: (held) => (isFields(held) && 'source' in held ? 'image' : null),
  file_id: (_, { type }) => (type === 'input_image' ? 'image' : null),
  source: (_, { type }) => (type === 'image' ? 'image' : null),
  input_audio: () => 'audio',
  inlineData: kindIn,
  inline_data: kindIn,
  fileData: pictureIn,
  file_data: pictureIn,
}

/** Returns what a field holds; null: no picture and no sound. */
const mediaOf = (name: string, held: unknown, of: Fields): 'image' | 'audio' | null =>
  Object.hasOwn(mediaFields, name) ? (mediaFields[name]?.(held, of) ?? null) : null

function kindIn(held: unknown): 'image' | 'audio' | null {
  const type = isFields(held) ? (held['mimeType'] ?? held['mime_type']) : null
  return typeof type !== 'string' ? null : type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : null
}

/** Of a recording that is not in the body nobody knows the length. */
function pictureIn(held: unknown): 'image' | null {
  return kindIn(held) === 'image' ? 'image' : null
}

/** Returns the length of the longest text in a part: its data or its address. */
function longestText(held: unknown): number {
  if (typeof held === 'string') return held.length
  let longest = 0
  if (isFields(held)) for (const name in held) longest = Math.max(longest, longestText(held[name]))
  return longest
}
