/**
 * Words of bodies and of search terms: runs of letters and digits, in any case. Bodies are JSON or plain text. In the escapes of JSON only characters
 * beyond ASCII are letters, so that a word of ASCII stands in the bytes as it is.
 */

/** A text as its words in lower case, each between two spaces. */
export type WordText = string

const beyondAscii = /[\u0080-\uFFFF]/
const notInAscii = /[^a-z0-9]+/g
const notInWords = /[^\p{L}\p{N}\p{M}]+/gu
/** The two characters beyond ASCII whose lower case is in it, or begins so. */
const intoAscii = /[\u0130\u212A]/g

/** Returns the words of a plain text. */
export function spokenText(text: string): WordText {
  if (!beyondAscii.test(text)) return ` ${text.toLowerCase().replaceAll(notInAscii, ' ').trim()} `
  const lower = text.replaceAll(intoAscii, (character) => (character === '\u0130' ? '\u0131' : ' ')).toLowerCase()
  return ` ${lower.replaceAll(notInWords, ' ').trim()} `
}

const escapes = /\\(?:u([0-9A-Fa-f]{4})|[^])/g

/** Returns the words of a body. */
export function spokenBody(text: string): WordText {
  if (!text.includes('\\')) return spokenText(text)
  return spokenText(
    text.replaceAll(escapes, (_, hex: string | undefined) => {
      const code = hex === undefined ? 0 : Number.parseInt(hex, 16)
      return code < 0x80 ? ' ' : String.fromCharCode(code)
    }),
  )
}

/** Returns the distinct words. */
export const wordsIn = (spoken: WordText): ReadonlySet<string> => new Set(spoken.split(' ').filter((word) => word !== ''))

/** Returns true if the words of one text come one after the other in another. */
export const says = (spoken: WordText, wanted: WordText): boolean => spoken.includes(wanted)
