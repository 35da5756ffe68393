import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'gh-'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 43
const checksumLength = 6
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

/** A new API key: `gh-`, 256 random bits in base62, and a checksum by which scanners distinguish a leaked key from noise. */
export function createApiKey(): string {
  const random = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomLength)
  return prefix + random + checksum(random)
}

/** Returns true if a text has the form and checksum of a generated key: a cheap test before a look-up. Operators choose keys of any form. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(prefix.length, -checksumLength)) === text.slice(-checksumLength)
}

const keyLength = prefix.length + randomLength + checksumLength

/** Returns true if a text contains a generated key. */
export function holdsApiKey(text: string): boolean {
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1))
    if (isApiKey(text.slice(at, at + keyLength))) return true
  return false
}

/** Returns the part of a key that may be shown after its creation, such as `gh-...Zx81`. */
export const keyHint = (secret: string): string => `${secret.startsWith(prefix) ? prefix : ''}...${secret.slice(-4)}`

const checksum = (random: string): string => toBase62(BigInt(crc32(prefix + random)), checksumLength)

function toBase62(value: bigint, length: number): string {
  let rest = value
  let text = ''
  for (let index = 0; index < length; index += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}
