import { formsOf, type Form, type KnownSecret } from './forms.ts'
import { isSecret, mark, replacePatterns } from './patterns.ts'

/** A text without secrets, and how many were in it. */
export interface Redacted {
  readonly text: string
  /** Secrets that are known, by value. */
  readonly byValue: number
  /** The number of values that only look like a secret. */
  readonly byPattern: number
}

/** Takes secrets out of a text. */
export type Redact = (text: string) => Redacted

/** Builds the redactor for the secrets that are known. */
export function createRedactor(secrets: readonly KnownSecret[]): Redact {
  const findAt = createIndex(secrets)
  return (text) => {
    const values = replaceKnown(text, findAt)
    const patterns = replacePatterns(values.text)
    return { text: patterns.text, byValue: values.count, byPattern: patterns.count }
  }
}

interface Entry extends Form {
  readonly label: string
}

/** The longest form that begins at a place of a text; null: none. */
type FindAt = (text: string, at: number) => Entry | null

/** By their first two characters, so that a text is walked once, however many secrets there are. */
function createIndex(secrets: readonly KnownSecret[]): FindAt {
  const byStart = new Map<number, Entry[]>()
  for (const { value, label } of secrets)
    for (const form of formsOf(value)) {
      const start = startOf(form.text, 0)
      byStart.set(start, [...(byStart.get(start) ?? []), { ...form, label }])
    }
  for (const entries of byStart.values()) entries.sort((one, other) => other.text.length - one.text.length)
  return (text, at) => byStart.get(startOf(text, at))?.find((entry) => text.startsWith(entry.text, at) && mayStand(entry, text, at)) ?? null
}

const startOf = (text: string, at: number) => text.charCodeAt(at) * 65_536 + (text.charCodeAt(at + 1) || 0)

/** A short secret counts only as a word of its own. */
const mayStand = ({ kind, text: form }: Entry, text: string, at: number) =>
  kind !== 'token' || !(isWord(text, at - 1) || isWord(text, at + form.length))

const isWord = (text: string, at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at))

function replaceKnown(text: string, findAt: FindAt): { readonly text: string; readonly count: number } {
  let result = ''
  let kept = 0
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const found = findAt(text, at)
    if (found === null) continue
    const [from, to] = found.kind === 'run' ? runAround(text, { from: at, to: at + found.text.length, kept }) : [at, at + found.text.length]
    result += `${text.slice(kept, from)}[secret ${found.label}]`
    kept = to
    at = to - 1
    count += 1
  }
  return { text: result + text.slice(kept), count }
}

/** Encoded text around a secret may hold its first or last bits. */
function runAround(text: string, { from, to, kept }: { from: number; to: number; kept: number }): readonly [number, number] {
  let [first, last] = [from, to]
  while (first > kept && isEncoded(text, first - 1)) first -= 1
  while (last < text.length && isEncoded(text, last)) last += 1
  return [first, last]
}

const isEncoded = (text: string, at: number) => /[\w+/=%-]/.test(text.charAt(at))

/** A document without secrets: each text in it is redacted by itself, so that it stays a document. */
export function redactDocument(document: unknown, redact: Redact): Redacted & { readonly document: unknown } {
  const counts = { byValue: 0, byPattern: 0 }
  const take = (text: string) => {
    const { byValue, byPattern, text: clean } = redact(text)
    counts.byValue += byValue
    counts.byPattern += byPattern
    return clean
  }
  const walk = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return isSecret(name) && !value.startsWith('[secret') ? maskWhole(value) : take(value)
    if (Array.isArray(value)) return value.map((item) => walk(item, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [take(key), walk(child, key)]))
  }
  const maskWhole = (value: string) => {
    const { text } = redact(value)
    counts.byValue += text === value ? 0 : 1
    counts.byPattern += text === value ? 1 : 0
    return mark
  }
  const clean = walk(document, '')
  return { document: clean, text: JSON.stringify(clean, null, 2), ...counts }
}
