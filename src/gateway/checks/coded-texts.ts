import { isUtf8 } from 'node:buffer'
import { isFields } from '../../lib/json/fields.ts'

const charset = /;\s*charset\s*=\s*"?(?:utf-?8|us-ascii)"?\s*(?=;|$)/gi

/** Returns whether a content type announces another charset than the one in which checks read: a provider may see other letters. */
export const namesForeignCharset = (contentType: string): boolean => /charset/i.test(contentType.replaceAll(charset, ''))

/** Returns whether bytes are a text as checks read it. A NUL is in none: UTF-16 is full of them. */
export const isPlainText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0)

/** The same for a decoded text. */
export const isPlain = (text: string): boolean => !/[\0\ufffd]/.test(text)

const isUrlEncoded = (contentType: string): boolean => /^application\/x-www-form-urlencoded\b/i.test(contentType)

/** Escapes of JSON and similar languages, of XML, and of URLs. */
const escapes = /\\u\{([\da-f]{1,6})\}|\\u([\da-f]{4})|\\U([\da-f]{8})|\\x([\da-f]{2})|&#x([\da-f]{1,6});?|&#(\d{1,7});?/gi
const percent = /(?:%[\da-f]{2})+/gi

/** Texts are coded within coded texts: so often is it looked for. */
const mostRounds = 3

/** Returns a text as a reader sees it who resolves its escapes; the text itself when there are none. */
export function withoutEscapes(text: string, contentType: string): string {
  const inUrl = contentType === '' || isUrlEncoded(contentType)
  let plain = isUrlEncoded(contentType) ? text.replaceAll('+', ' ') : text
  for (let round = 0; round < mostRounds; round += 1) {
    const before = plain
    plain = plain.replaceAll(escapes, (whole, ...codes: unknown[]) => letter(whole, codes))
    if (inUrl) plain = plain.replaceAll(percent, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    if (plain === before) break
  }
  return plain
}

/** The sixth group of `escapes` is decimal, the others are hexadecimal. */
function letter(whole: string, codes: readonly unknown[]): string {
  const at = codes.findIndex((code) => typeof code === 'string')
  const code = Number.parseInt(String(codes[at]), at === 5 ? 10 : 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** Fields in which some APIs take a text as the numbers of its tokens. */
const numbered = ['prompt', 'input', 'inputs', 'prompt_token_ids', 'input_ids', 'token_ids', 'context']

/** Returns whether a body holds a prompt as numbers of tokens, which cannot be read. */
export const saysInTokens = (json: unknown): boolean =>
  isFields(json) &&
  numbered.some((name) => {
    const value = json[name]
    return Array.isArray(value) ? value.some((item) => isNumbers(item) || saysInTokens(item)) : saysInTokens(value)
  })

const isNumbers = (item: unknown): boolean =>
  typeof item === 'number' || (Array.isArray(item) && item.some((inner) => typeof inner === 'number'))
