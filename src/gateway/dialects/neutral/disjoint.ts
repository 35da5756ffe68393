import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { type Counts, type Dimension, isDimension } from './counts.ts'
import type { TokenUsage } from './token-usage.ts'

/** Counts as a provider's usage object was read into them. */
export interface ReadCounts {
  readonly counts: Counts
  /** True if the provider's figures contradict each other: a part was larger than its whole, and was cut down. */
  readonly inconsistent: boolean
}

/** Reads the whole number in a field, or in a field of a field; 0 when there is none. */
export function countAt(fields: Fields, name: string, inner: string | null = null): number {
  const held = fields[name]
  const value = inner === null ? held : isFields(held) ? held[inner] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

const noFields: Fields = {}

/** Returns the object in a field; an empty one when there is none. */
export function fieldsIn(fields: Fields, name: string): Fields {
  const held = fields[name]
  return isFields(held) ? held : noFields
}

/** A part of a total. */
export type Part = readonly [dimension: Dimension, count: number]

/** Collects disjoint counts. A class, because one is made for every answer. */
export class Collector {
  readonly #counts: Partial<Record<Dimension, number>> = {}
  #inconsistent = false

  /** Adds the parts that a total contains, and the rest of it under `rest`. Parts never come to more than their total. */
  split(total: number, rest: Dimension, parts: readonly Part[]): void {
    let left = total
    for (const [dimension, count] of parts) {
      if (count > left) this.#inconsistent = true
      const taken = Math.min(count, left)
      this.#add(dimension, taken)
      left -= taken
    }
    this.#add(rest, left)
  }

  /** Adds counts that nothing contains. */
  add(...parts: readonly Part[]): void {
    for (const [dimension, count] of parts) this.#add(dimension, count)
  }

  read(): ReadCounts {
    return { counts: this.#counts, inconsistent: this.#inconsistent }
  }

  #add(dimension: Dimension, count: number): void {
    if (count > 0) this.#counts[dimension] = (this.#counts[dimension] ?? 0) + count
  }
}

/** The dimensions of the prompt, whose sum decides about rates of long prompts. */
const ofPrompt: ReadonlySet<string> = new Set<Dimension>([
  'input',
  'cache_read',
  'cache_read_explicit',
  'cache_write',
  'cache_write_1h',
  'cache_write_12h',
  'input_audio',
  'cache_read_audio',
  'cache_write_audio',
  'input_image',
  'cache_read_image',
  'input_video',
])

/** Returns the tokens of the whole prompt. */
export function promptTokens(counts: Counts): number {
  let sum = 0
  for (const name in counts) if (isDimension(name) && ofPrompt.has(name)) sum += counts[name] ?? 0
  return sum
}

/** Returns the tokens of the whole answer. */
export const outputTokens = ({ output = 0, reasoning = 0, output_audio: audio = 0, output_image: image = 0 }: Counts): number =>
  output + reasoning + audio + image

/** Reads the counts of an answer that was translated, which are totals in one way whoever counted. */
export function disjointCounts(usage: TokenUsage): ReadCounts {
  const collector = new Collector()
  const hour = usage.cacheWriteHour ?? 0
  collector.split(usage.input ?? 0, 'input', [
    ['cache_read', usage.cacheRead ?? 0],
    ['cache_write_1h', hour],
    ['cache_write', Math.max(0, (usage.cacheWrite ?? 0) - hour)],
    ['input_audio', usage.audioInput ?? 0],
  ])
  collector.split(usage.output ?? 0, 'output', [
    ['output_audio', usage.audioOutput ?? 0],
    ['reasoning', usage.reasoning ?? 0],
  ])
  collector.add(['web_search', usage.searches ?? 0])
  return collector.read()
}
