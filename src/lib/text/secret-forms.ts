/** A secret that must not be in the bundle, and the text that replaces it. */
export interface KnownSecret {
  readonly value: string
  /** The source of the secret, such as `DB_PASS`; it is written to the bundle, so it must not reveal the value. */
  readonly label: string
}

/** One way in which a secret may be written. */
export interface Form {
  readonly text: string
  /** `token`: only as a word of its own, because it is short enough to be part of one. `run`: all characters of the encoding around it go too. */
  readonly kind: 'exact' | 'token' | 'run'
}

/** A shorter secret cannot be distinguished from other text. */
export const shortestSecret = 4
const shortestExact = 8
/** Lines of a key file; shorter ones are its ends. */
const shortestLine = 16

/** Every way in which a secret may be written: as it is, escaped, for URLs, in base64 at each offset, in hexadecimal. */
export function formsOf(value: string): readonly Form[] {
  const parts = [...new Set([value, value.trim(), ...linesOf(value)])].filter((part) => part.length >= shortestSecret)
  return unique(parts.flatMap((part) => plainForms(part).concat(encodedForms(Buffer.from(part)), decodedForms(part))))
}

/** The lines of a PEM, which logs print one by one; without its headings, which are no secret. */
const linesOf = (value: string): readonly string[] =>
  value.includes('\n')
    ? value.split(/\r?\n/).flatMap((line) => (line.trim().length >= shortestLine && !line.includes('-----') ? [line.trim()] : []))
    : []

function plainForms(text: string): readonly Form[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const url = encodeURIComponent(text)
  const strict = url.replaceAll(/[!'()*]/g, percent)
  const written = [
    text,
    json,
    ascii,
    json.replaceAll('/', String.raw`\/`),
    JSON.stringify(json).slice(1, -1),
    url,
    strict,
    strict.replaceAll('%20', '+'),
    strict.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encodeURIComponent(strict),
    [...Buffer.from(text)].map(percentByte).join(''),
    [...Buffer.from(text)].map(percentByte).join('').toLowerCase(),
    text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character),
  ]
  return written.map((form) => ({ text: form, kind: form.length < shortestExact ? 'token' : 'exact' }))
}

const percentByte = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
const percent = (character: string) => percentByte(character.charCodeAt(0))
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Base64 of something longer holds a secret at one of three offsets; the characters at the edges depend on the neighbours. */
function encodedForms(bytes: Buffer): readonly Form[] {
  const hex = bytes.toString('hex')
  const inner = [0, 1, 2].map((shift) => stableBase64(bytes, shift))
  const base64 = inner.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(text)])
  return [...base64, hex, hex.toUpperCase()].flatMap((text) => (text.length < shortestExact ? [] : [{ text, kind: 'run' as const }]))
}

function stableBase64(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
  const tail = (shift + bytes.length) % 3
  const from = shift === 0 ? 0 : shift + 1
  return encoded.replace(/=+$/, '').slice(from, tail === 0 ? undefined : -1)
}

/** A key that is given in base64 may be written as its bytes. */
function decodedForms(text: string): readonly Form[] {
  if (!/^[\w+/-]{22,}={0,2}$/.test(text)) return []
  const bytes = Buffer.from(text, 'base64')
  const other = [bytes.toString('base64'), bytes.toString('base64url')].map((form): Form => ({ text: form, kind: 'exact' }))
  return bytes.length < 16 ? [] : [...other, ...encodedForms(bytes)]
}

const unique = (forms: readonly Form[]): readonly Form[] => [...new Map(forms.map((form) => [`${form.kind} ${form.text}`, form])).values()]
