import { isUtf8 } from 'node:buffer'
import { ApiError } from '../errors.ts'
import { stringEnd } from './json-edit.ts'
import { findJsonFault } from './json-fault.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SHORT_STRING = 24
/** The position of a fault in a longer text is not reported: finding it takes ten times as long as reading the text. */
const longestExplained = 1024 * 1024

/**
 * The value of a JSON body that has not been checked yet. Throws ApiError `invalid_request`, with the position of the fault, for bytes that are not
 * UTF-8, for malformed JSON, for more than `maxDepth` levels and for a key `__proto__` anywhere. `remember` gets the text beside its value.
 */
export function parseJson(bytes: Uint8Array, maxDepth = 128, remember?: (value: unknown, text: string) => void): unknown {
  if (!isUtf8(bytes)) throw refused('is not valid UTF-8')
  const tooDeep = findTooDeep(bytes, maxDepth)
  if (tooDeep !== -1) throw refused(`is nested deeper than ${maxDepth} levels (byte ${tooDeep})`)
  const text = (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString()
  const value = parseText(text)
  if (mayHoldProto(text) && protoKey.test(text)) throw refusedKey('__proto__')
  remember?.(value, text)
  return value
}

/** Answers of others are not nested deeper than this. */
const deepestAnswer = 1000
/** A shorter text costs little, however it is nested. */
const shortText = 16 * 1024

/**
 * Returns the value of a text that comes from another host. Throws `SyntaxError` if the text is not JSON, and for a long text that is nested very
 * deeply: parsing a megabyte of brackets takes half a second, in which the process serves no other request.
 */
export function parseAnswer(text: string): unknown {
  if (isNestedDeeply(text)) throw new SyntaxError(`nested deeper than ${deepestAnswer} levels`)
  return JSON.parse(text)
}

/** Returns true if `parseAnswer` refuses a text for its depth alone. */
export const isNestedDeeply = (text: string): boolean => text.length > shortText && isDeeper(text, deepestAnswer)

function isDeeper(text: string, most: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = stringEnd(text, at) - 1
    else if (char === 0x5b || char === 0x7b) {
      depth += 1
      if (depth > most) return true
    } else if (char === 0x5d || char === 0x7d) depth -= 1
  }
  return false
}

/** Returns the value of a text that may be JSON; undefined: it is not. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return parseAnswer(text)
  } catch {
    return undefined
  }
}

/**
 * The key in a text that is JSON, however it is spelled. Only a quote that begins a string stands before it, so that no text is taken for
 * a key; to look at every key of the value takes seconds when there are millions.
 */
const protoKey = /[{,\s]"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"\s*:/

const refusedKey = (key: string) =>
  new ApiError('invalid_request', `The JSON body has a key \`${key}\`, which is not allowed.`, { param: key })

/** Throws ApiError `invalid_request` when an object anywhere in `value` has one of `keys`, e.g. those that reach a prototype. */
export function refuseKeys(value: unknown, keys: ReadonlySet<string>): void {
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === null || typeof next !== 'object') continue
    for (const [key, child] of Object.entries(next)) {
      if (keys.has(key)) throw refusedKey(key)
      if (child !== null && typeof child === 'object') waiting.push(child)
    }
  }
}

/** The byte that opens level `maxDepth + 1`, or -1. JSON.parse itself takes a second for 8 MB of brackets, this takes 8 ms. */
function findTooDeep(bytes: Uint8Array, maxDepth: number): number {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1)
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxDepth) return at
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--
    }
  }
  return -1
}

/** The index of the closing quote. Short strings are walked; for the rest of a long one the native search is ten times faster. */
function endOfString(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + SHORT_STRING, bytes.length)
  let at = start
  for (; at < near; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
  }
  for (let end = bytes.indexOf(QUOTE, at); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    if (!isEscaped(bytes, at, end)) return end
  }
  return bytes.length
}

/** Returns true if an odd number of backslashes precedes `end`, counted back to `start` at most. */
function isEscaped(bytes: Uint8Array, start: number, end: number): boolean {
  let at = end
  while (at > start && bytes[at - 1] === BACKSLASH) at--
  return (end - at) % 2 === 1
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (text.length > longestExplained) throw refused('is not valid JSON')
    // The message of JSON.parse quotes the body, which may hold secrets, and often lacks the position.
    const fault = findJsonFault(text)
    throw refused(`is not valid JSON: ${fault.what} at position ${fault.position} (line ${fault.line}, column ${fault.column})`)
  }
}

/** An escape such as `\u005f` can spell the key without its bytes; only escapes of its letters are worth a walk. */
function mayHoldProto(text: string): boolean {
  return text.includes('__proto__') || (text.includes('\\u00') && /\\u00[567]/.test(text))
}

const refused = (fault: string) => new ApiError('invalid_request', `The request body ${fault}.`, { param: 'body' })
