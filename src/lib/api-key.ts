import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The beginnings of secrets: of an API key, and of the token of a program that a person let in (`mcp-sign-ins`). */
const prefixes = { key: 'gh-', token: 'gho-' } as const
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 43
const checksumLength = 6
const tail = /^[0-9A-Za-z]+$/
const tailLength = randomLength + checksumLength

type Prefix = (typeof prefixes)[keyof typeof prefixes]

/** A new API key: `gh-`, 256 random bits in base62, and a checksum by which scanners distinguish a leaked key from noise. */
export const createApiKey = (): string => create(prefixes.key)

/** A new token for a program that a person let in: `gho-`, and the rest as of an API key. */
export const createSignInToken = (): string => create(prefixes.token)

function create(prefix: Prefix): string {
  const random = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomLength)
  return prefix + random + checksum(prefix, random)
}

/** Returns true if a text has the form and checksum of a generated key: a cheap test before a look-up. Operators choose keys of any form. */
export const isApiKey = (text: string): boolean => isMade(prefixes.key, text)

/** Returns true if a text has the form and checksum of the token of a program that a person let in. */
export const isSignInToken = (text: string): boolean => isMade(prefixes.token, text)

function isMade(prefix: Prefix, text: string): boolean {
  if (text.length !== prefix.length + tailLength || !text.startsWith(prefix)) return false
  const random = text.slice(prefix.length, -checksumLength)
  return tail.test(text.slice(prefix.length)) && checksum(prefix, random) === text.slice(-checksumLength)
}

/** Returns true if a text contains a generated key, or such a token. */
export const holdsApiKey = (text: string): boolean => holdsMade(prefixes.key, text) || holdsMade(prefixes.token, text)

function holdsMade(prefix: Prefix, text: string): boolean {
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1))
    if (isMade(prefix, text.slice(at, at + prefix.length + tailLength))) return true
  return false
}

/** Returns the part of a key that may be shown after its creation, such as `gh-...Zx81`. */
export const keyHint = (secret: string): string => `${secret.startsWith(prefixes.key) ? prefixes.key : ''}...${secret.slice(-4)}`

const checksum = (prefix: Prefix, random: string): string => toBase62(BigInt(crc32(prefix + random)), checksumLength)

function toBase62(value: bigint, length: number): string {
  let rest = value
  let text = ''
  for (let index = 0; index < length; index += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}
