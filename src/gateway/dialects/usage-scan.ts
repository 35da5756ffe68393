import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { CountPlace } from './dialect.ts'
import type { Usage } from './neutral/usage.ts'
import { dialects } from './registry.ts'

/** So many places are looked at from each end of an answer; a provider must not keep us looking. */
const maxCandidates = 32
const backslash = 0x5c

/**
 * Reads the token counts from the first and last bytes of an answer: OpenAI (chat, completions, embeddings, responses), Anthropic
 * (message_start and message_delta together), Google. Works on a whole JSON body and on server-sent events alike, because it looks
 * for the `usage` object itself. Null when the provider named none. Never throws: metering may fail, the exchange may not.
 */
export function readUsage(head: Buffer, tail: Buffer = head): Usage | null {
  return scanUsage(head, tail)?.usage ?? null
}

/** The usage that an answer tells. */
export interface ScannedUsage {
  readonly usage: Usage
  /** The provider's own fields; of several objects the later ones win, field by field. */
  readonly raw: Fields
}

/** Reads the usage objects of an answer from its first and last bytes, as `readUsage` does, and keeps the provider's own fields. */
export function scanUsage(head: Buffer, tail: Buffer = head): ScannedUsage | null {
  const objects = head === tail ? usageObjects(head) : [...usageObjects(head), ...usageObjects(tail)]
  return objects.length === 0 ? null : { usage: merge(objects), raw: mergeFields(objects) }
}

/** Null says nothing: an answer that grows names some counts only once. */
function mergeFields(objects: readonly Fields[]): Fields {
  const [only] = objects
  if (only !== undefined && objects.length === 1) return only
  const merged: Record<string, unknown> = {}
  for (const object of objects) for (const [name, value] of Object.entries(object)) if (value !== null) merged[name] = value
  return merged
}

/** The first and the last `usage` objects of the bytes: a stream names its input first and its output last. */
function usageObjects(bytes: Buffer): readonly Fields[] {
  const key = keys.find((one) => bytes.includes(one))
  if (key === undefined) return []
  const first = nextObject(bytes, key)
  if (first === null) return []
  // Most bodies name it once, and what was parsed is not parsed again.
  const last = bytes.lastIndexOf(key) === first.at ? null : lastObject(bytes, key)
  return last === null ? [first.counts] : [first.counts, last]
}

function nextObject(bytes: Buffer, key: Buffer): { readonly at: number; readonly counts: Fields } | null {
  let at = bytes.indexOf(key)
  for (let looked = 0; at !== -1 && looked < maxCandidates; looked += 1) {
    const counts = objectAfter(bytes, at, key.length)
    if (counts !== null) return { at, counts }
    at = bytes.indexOf(key, at + key.length)
  }
  return null
}

function lastObject(bytes: Buffer, key: Buffer): Fields | null {
  let at = bytes.lastIndexOf(key)
  for (let looked = 0; at !== -1 && looked < maxCandidates; looked += 1) {
    const found = objectAfter(bytes, at, key.length)
    if (found !== null) return found
    at = at === 0 ? -1 : bytes.lastIndexOf(key, at - 1)
  }
  return null
}

/** The object that follows a key, unless the key is text inside a string or its value is no object. */
function objectAfter(bytes: Buffer, at: number, keyLength: number): Fields | null {
  if (at > 0 && bytes[at - 1] === backslash) return null
  let start = at + keyLength
  while (start < bytes.length && bytes[start] !== 0x7b) {
    const byte = bytes[start]
    if (byte !== 0x3a && byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return null
    start += 1
  }
  const end = closingBrace(bytes, start)
  if (end === -1) return null
  return parseCounts(bytes.toString('utf8', start, end + 1))
}

/** Null for what only looks like an object: a parameter of a tool may be called usage, and hold braces in a text. */
function parseCounts(text: string): Fields | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return isFields(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** The end of the object that opens at `start`; usage objects hold no strings with braces, and are small. */
function closingBrace(bytes: Buffer, start: number): number {
  let depth = 0
  for (let i = start; i < bytes.length && i < start + 8192; i += 1) {
    if (bytes[i] === 0x7b) depth += 1
    else if (bytes[i] === 0x7d) {
      depth -= 1
      if (depth === 0) return i
    }
  }
  return -1
}

const everyUsage = Object.values(dialects).flatMap(({ usage = null }) => (usage === null ? [] : [usage]))
/** The names of the objects that hold counts; the last ones are those of providers whose answers are passed through only. */
const keys = [...new Set([...everyUsage.map(({ key }) => key), 'usage_info', 'billed_units', 'amazon-bedrock-invocationMetrics'])].map(
  (name) => Buffer.from(JSON.stringify(name)),
)
const placesOf = (field: keyof Usage): readonly CountPlace[] => everyUsage.flatMap((usage) => usage[field])

/** A provider may count in the words of another dialect: all are looked for. */
const places: Readonly<Record<keyof Usage, readonly CountPlace[]>> = {
  inputTokens: placesOf('inputTokens'),
  outputTokens: placesOf('outputTokens'),
  totalTokens: placesOf('totalTokens'),
  cacheReadTokens: placesOf('cacheReadTokens'),
  cacheWriteTokens: placesOf('cacheWriteTokens'),
  reasoningTokens: placesOf('reasoningTokens'),
}

/** Later objects win, field by field: Anthropic repeats its output count as it grows. */
function merge(objects: readonly Fields[]): Usage {
  const pick = (candidates: readonly CountPlace[]): number | null => {
    let found: number | null = null
    for (const counts of objects) for (const place of candidates) found = count(counts, place) ?? found
    return found
  }
  const inputTokens = pick(places.inputTokens)
  const outputTokens = pick(places.outputTokens)
  const sum = inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0)
  return {
    inputTokens,
    outputTokens,
    totalTokens: pick(places.totalTokens) ?? sum,
    cacheReadTokens: pick(places.cacheReadTokens),
    cacheWriteTokens: pick(places.cacheWriteTokens),
    reasoningTokens: pick(places.reasoningTokens),
  }
}

function count(counts: Fields, place: CountPlace): number | null {
  // By index: to take an array apart makes an iterator, and this is asked dozens of times an answer.
  const inner = place[1]
  const held = counts[place[0]]
  const value = inner === undefined ? held : isFields(held) ? held[inner] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
