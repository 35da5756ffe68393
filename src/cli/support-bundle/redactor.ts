import { findingKnown, replaceKnown } from '../../lib/text/known-secrets.ts'
import type { KnownSecret } from '../../lib/text/secret-forms.ts'
import { isSecret, mark, replacePatterns } from './patterns.ts'

/** A text without secrets, and how many were in it. */
export interface RedactedText {
  readonly text: string
  /** Secrets that are known, by value. */
  readonly byValue: number
  /** The number of values that only look like a secret. */
  readonly byPattern: number
}

/** Takes secrets out of a text. */
export type Redact = (text: string) => RedactedText

/** Builds the redactor for the secrets that are known. */
export function createRedactor(secrets: readonly KnownSecret[]): Redact {
  const findAt = findingKnown(secrets)
  return (text) => {
    const values = replaceKnown(text, findAt)
    const patterns = replacePatterns(values.text)
    return { text: patterns.text, byValue: values.count, byPattern: patterns.count }
  }
}

/** A document without secrets: each text in it is redacted by itself, so that it stays a document. */
export function redactDocument(document: unknown, redact: Redact): RedactedText & { readonly document: unknown } {
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
