/** The JSON in a text. */
interface FoundJson {
  readonly values: readonly unknown[]
  /** True when there is none beside these; a text of brackets must not keep us for ever. */
  readonly complete: boolean
}

/** So many characters are looked at: of brackets that are never closed, every one may be the first of an object that ends at the end. */
const maxScanned = 8 * 1024 * 1024
/** The characters that a miss costs: a text that began like JSON and was none. */
const missCost = 1000

/** Each part of it takes one way only: with a part for spaces of its own a long run of them would be looked at again from each of them. */
const fenced = /```+(?:json|JSON)?([\s\S]*?)```+/g

/**
 * The JSON objects and arrays in a text: the whole of it, fenced blocks, else the text between brackets. With `everywhere` also the text between
 * brackets beside the blocks, for rules that all of it has to keep.
 */
export function jsonIn(text: string, { everywhere }: { readonly everywhere: boolean }): FoundJson {
  const whole = parsed(text.trim())
  if (whole !== undefined) return { values: [whole], complete: true }
  const blocks = valuesOf(fencedBlocks(text))
  if (blocks.values.length === 0) return blocks.complete ? valuesOf(bracketed(text)) : blocks
  if (!everywhere || !blocks.complete) return blocks
  const others = valuesOf(bracketed(text.replaceAll(fenced, ' ')))
  return { values: [...blocks.values, ...others.values], complete: others.complete }
}

/** Throws when a verdict could be another, had all the JSON in the text been looked at. */
export function demandComplete({ complete }: FoundJson): void {
  if (!complete) throw new Error('There is more in the text that may be JSON than is looked at.')
}

interface Candidate {
  readonly value: unknown
  /** How many characters were looked at for it. */
  readonly scanned: number
}

function valuesOf(candidates: Iterable<Candidate>): FoundJson {
  const values: unknown[] = []
  let scanned = 0
  for (const candidate of candidates) {
    if (candidate.value !== undefined) values.push(candidate.value)
    scanned += candidate.scanned + (candidate.value === undefined ? missCost : 0)
    if (scanned > maxScanned) return { values, complete: false }
  }
  return { values, complete: true }
}

const opens = (text: string): boolean => text.startsWith('{') || text.startsWith('[')

/** Objects and arrays; numbers and words in a text do not count as JSON. */
function parsed(text: string): unknown {
  if (!opens(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

function* fencedBlocks(text: string): Generator<Candidate> {
  for (const [, inner = ''] of text.matchAll(fenced)) {
    const block = inner.trim()
    if (opens(block)) yield { value: parsed(block), scanned: block.length }
  }
}

function* bracketed(text: string): Generator<Candidate> {
  const lastEnd = text.lastIndexOf('}')
  let at = text.indexOf('{')
  while (at !== -1 && at < lastEnd) {
    const end = balancedEnd(text, at)
    const value = end === -1 ? undefined : parsed(text.slice(at, end))
    yield { value, scanned: (end === -1 ? text.length : end) - at }
    at = text.indexOf('{', value === undefined ? at + 1 : end)
  }
}

/** The index after the bracket that closes the one at `start`; -1 when none does. */
function balancedEnd(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth += 1
    else if (char === '}') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}
