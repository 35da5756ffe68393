import { type Fields, isFields } from '../json/fields.ts'
import { formsOf, shortestSecret, type Form, type KnownSecret } from './secret-forms.ts'

/** Returns a text without certain secrets. */
export type Hide = (text: string) => string

/** Returns how these secrets are taken out of a text that others wrote, in every form in which they may be written. */
export function hidingSecrets(secrets: Iterable<string>): Hide {
  const known = [...new Set(secrets)].filter(({ length }) => length >= shortestSecret)
  if (known.length === 0) return (text) => text
  const findAt = findingKnown(known.map((value) => ({ value, label: '' })))
  return (text) => replaceKnown(text, findAt).text
}

/** Takes them out of every text of a document. */
export function hideWithin(document: unknown, hide: Hide): unknown {
  if (typeof document === 'string') return hide(document)
  if (Array.isArray(document)) return document.map((item) => hideWithin(item, hide))
  return isFields(document) ? hideWithinFields(document, hide) : document
}

/** The same of an object. */
export const hideWithinFields = (fields: Fields, hide: Hide): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, child]) => [hide(name), hideWithin(child, hide)]))

interface Entry extends Form {
  readonly label: string
}

/** Finds the longest form that begins at a place of a text; null: none. */
export type FindAt = (text: string, at: number) => Entry | null

/** By their first two characters, so that a text is walked once, however many secrets there are. */
export function findingKnown(secrets: readonly KnownSecret[]): FindAt {
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

/** Takes known secrets out of a text, each in the place of which its label stands, and counts them. */
export function replaceKnown(text: string, findAt: FindAt): { readonly text: string; readonly count: number } {
  let result = ''
  let kept = 0
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const found = findAt(text, at)
    if (found === null) continue
    const [from, to] = found.kind === 'run' ? runAround(text, { from: at, to: at + found.text.length, kept }) : [at, at + found.text.length]
    result += `${text.slice(kept, from)}${markOf(found)}`
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

const markOf = ({ label }: Entry): string => (label === '' ? '[secret]' : `[secret ${label}]`)
