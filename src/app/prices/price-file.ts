import { createHash } from 'node:crypto'
import { isPriceEntry, type PriceEntry } from '../../gateway/ports/prices.ts'

/** The price list of one provider, of which each model is read when it is first asked for. */
export interface PriceFile {
  /** The first 16 digits of the SHA-256 of the file. */
  readonly digest: string
  /** The names of all models, in lower case. */
  readonly models: () => Iterable<string>
  /** Returns the entry of a model; null: the list does not have it. Throws when its line is no price. */
  find(model: string): PriceEntry | null
  /** Returns the whole line of a model: its prices, limits and abilities. */
  read(model: string): Readonly<Record<string, unknown>> | null
}

/**
 * Opens a list of our own format, which has one model a line: the lines are indexed by name at once, and parsed one by one when they are
 * needed, so that six thousand models cost neither time at the start nor memory.
 */
export function openPriceFile(bytes: Buffer): PriceFile {
  const text = bytes.toString('utf8')
  const lines = indexLines(text)
  const entries = new Map<string, PriceEntry>()
  const read = (model: string): Readonly<Record<string, unknown>> | null => {
    const at = lines.get(model.toLowerCase())
    return at === undefined ? null : JSON.parse(text.slice(at.start, at.end))
  }
  return {
    digest: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
    models: () => lines.keys(),
    read,
    find(model) {
      const name = model.toLowerCase()
      const known = entries.get(name)
      if (known !== undefined) return known
      const entry: unknown = read(name)
      if (entry === null) return null
      if (!isPriceEntry(entry)) throw new Error(`the price of ${model} is none`)
      entries.set(name, entry)
      return entry
    },
  }
}

interface Place {
  readonly start: number
  readonly end: number
}

/** Returns where the entry of each model stands. */
function indexLines(text: string): ReadonlyMap<string, Place> {
  const lines = new Map<string, Place>()
  let from = text.indexOf('\n') + 1
  while (from > 0 && from < text.length) {
    const next = text.indexOf('\n', from)
    const to = next === -1 ? text.length : next
    const colon = nameEnd(text, from)
    if (colon !== -1) {
      const name: unknown = JSON.parse(text.slice(from, colon))
      const end = text[to - 1] === ',' ? to - 1 : to
      lines.set(String(name).toLowerCase(), { start: colon + 1, end })
    }
    from = next + 1
  }
  return lines
}

/** Returns the place of the colon behind a name that a line begins with; -1: it begins with none. */
function nameEnd(text: string, from: number): number {
  if (text[from] !== '"') return -1
  const end = text.indexOf('":', from + 1)
  return end === -1 ? -1 : end + 1
}
