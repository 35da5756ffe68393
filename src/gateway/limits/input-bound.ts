import type { RequestBody } from '../wire/body.ts'
import { addedTokens, tokensOfToolUse } from './beyond-body.ts'
import { partsOf } from './prompt-parts.ts'

/** The tokens of a picture of unmeasured size. */
export const tokensOfPicture = 1600
/** A second of speech has at least 2,000 bytes, 16 kbit/s, and 32 tokens. Base64 writes three bytes as four. */
const audioCharactersPerToken = (2000 * 4) / 3 / 32

/** A prompt as it is estimated before it is sent. */
export interface InputBound {
  readonly tokens: number
  /** True when it names a file or sound that is not in the body: it may fill the window. */
  readonly isOpen: boolean
}

/** Estimates the tokens of a prompt from the bytes of its body. */
export function inputBound({ bytes, json, length }: RequestBody): InputBound {
  if (bytes === null) return { tokens: tokensOfText(length ?? 0), isOpen: false }
  const { pictures, audio, characters, isOpen } = partsOf(json)
  const text = tokensOfText(Math.max(0, bytes.length - characters), bytesPerToken(bytes))
  return { tokens: text + pictures * tokensOfPicture + Math.ceil(audio / audioCharactersPerToken), isOpen }
}

/** The most that a picture takes, however few bytes it has: of a few models far more than of all others. */
export const mostOfPicture = 5000
const dearPictures = /gpt-4o-mini/
const mostOfDearPicture = 48_200

/**
 * Bounds the tokens of a prompt by the bytes of its body and the number of its pictures. One that names anything beside them, or that has packed parts, may fill the window; so may one to which its provider adds without a bound.
 */
export function strictInputBound({ bytes, json, length }: RequestBody, model: string | null): InputBound {
  const { pictures } = partsOf(json)
  const added = addedTokens(json)
  const told = model !== null && /claude/i.test(model) ? tokensOfToolUse(json) : 0
  const each = model !== null && dearPictures.test(model) ? mostOfDearPicture : mostOfPicture
  return {
    tokens: (bytes?.length ?? length ?? 0) + pictures * each + told + (added === Infinity ? 0 : added),
    isOpen: holdsMore(json) || added === Infinity,
  }
}

/** Returns true for a body that names contents beside itself, or that has packed ones. */
function holdsMore(json: unknown): boolean {
  const { isPartial, isPacked } = partsOf(json)
  return isPartial || isPacked
}

/** Returns true if the prompt of a body may have tokens that its bytes do not show. */
export const hidesInput = (json: unknown): boolean => holdsMore(json) || addedTokens(json) > 0

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
