import { exactJson, parseExact } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Loss } from './neutral/loss.ts'

/**
 * Returns the arguments of a call as an object. Models write broken JSON at times; in the history of a conversation it must not end the
 * conversation, so that it goes on as a text.
 */
export function argumentsObject(text: string, at: string, loss: Loss): Fields {
  if (text.trim() === '') return {}
  try {
    const parsed = parseExact(text)
    if (isFields(parsed)) return parsed
  } catch {
    // It goes on as a text.
  }
  loss.dropAt(at, 'holds arguments that are no JSON object')
  return { _raw: text }
}

/** Returns the arguments of a call as the text of a JSON object: as they came where they are one. */
export function argumentsJson(text: string, at: string, loss: Loss): string {
  const found = argumentsObject(text, at, loss)
  return '_raw' in found || text.trim() === '' ? exactJson(found) : text
}

/** Returns the arguments of a call as JSON: `{}` for none. */
export const argumentsText = (value: unknown): string => (typeof value === 'string' ? value || '{}' : exactJson(value ?? {}))

/** Returns an id that matches a pattern: the id itself, or one made of it, which is the same each time. */
export const legalId = (id: string, legal: RegExp, length: number): string => (legal.test(id) ? id : hashedId(id, length))

/** Returns an id of nine letters and digits, which is all that models of Mistral take. */
export const nineCharacterId = (id: string): string => legalId(id, /^[A-Za-z0-9]{9}$/, 9)

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(letters.length)
const mask = (1n << 128n) - 1n
const prime = 0x0000000001000000000000000000013bn

/** FNV-1a with 128 bits, as letters and digits. It distinguishes ids; it protects no secret. */
export function hashedId(text: string, length: number): string {
  let hash = 0x6c62272e07bb014262b821756295c58dn
  for (let at = 0; at < text.length; at += 1) hash = ((hash ^ BigInt(text.charCodeAt(at))) * prime) & mask
  let id = ''
  for (let at = 0; at < length; at += 1) {
    id += letters[Number(hash % base)] ?? '0'
    hash /= base
  }
  return id
}
