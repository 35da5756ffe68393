import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { type Counts, type Dimension, isDimension } from './counts.ts'
import type { TokenUsage } from './token-usage.ts'

/** Counts as a provider's usage object was read into them. */
export interface ReadCounts {
  readonly counts: Counts
  /** True if the provider's figures contradict each other: a part is larger than its whole and was cut down, a total is no sum, a count is below 0. */
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

/** Collects disjoint counts. A class that takes one count at a time, because one is made for every answer. */
export class Collector {
  readonly #counts: Partial<Record<Dimension, number>> = {}
  #left = 0
  #inconsistent = false

  /** Begins a total that contains parts. */
  whole(total: number): void {
    this.#left = total
  }

  /** Takes a part out of the total. Parts never come to more than their total. */
  part(dimension: Dimension, count: number): void {
    if (count > this.#left) this.#inconsistent = true
    const taken = Math.min(count, this.#left)
    this.add(dimension, taken)
    this.#left -= taken
  }

  /** Adds the rest of the total beside its parts. */
  rest(dimension: Dimension): void {
    this.add(dimension, this.#left)
  }

  /** Adds a count that is part of no other. */
  add(dimension: Dimension, count: number): void {
    if (count > 0) this.#counts[dimension] = (this.#counts[dimension] ?? 0) + count
  }

  /** Compares the provider's own total, if it has one, with the sum that it must be; some leave out parts that are counted apart. */
  total(told: number, sum: number, less = sum): void {
    if (told !== 0 && told !== sum && told !== less) this.#inconsistent = true
  }

  read(): ReadCounts {
    return { counts: this.#counts, inconsistent: this.#inconsistent }
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

const noCounts: Counts = {}
/** The dimensions that no total of tokens has in it. */
const besideTokens = [
  'citation',
  'web_search_low',
  'web_search_medium',
  'web_search_high',
  'file_search',
  'x_search',
  'code_execution',
  'code_session',
  'maps',
] as const satisfies readonly Dimension[]

/** Reads the counts of a translated answer, which are totals in one form for all providers. */
export function disjointCounts(usage: TokenUsage): ReadCounts {
  const collector = new Collector()
  const apart = usage.apart ?? noCounts
  addInput(collector, usage, apart)
  collector.whole(usage.output ?? 0)
  collector.part('output_audio', usage.audioOutput ?? 0)
  addParts(collector, apart, ['output_image', 'output_video'])
  collector.part('reasoning', usage.reasoning ?? 0)
  collector.rest('output')
  collector.add('web_search', usage.searches ?? 0)
  for (const name of besideTokens) collector.add(name, apart[name] ?? 0)
  return collector.read()
}

function addInput(collector: Collector, usage: TokenUsage, apart: Counts): void {
  const hour = usage.cacheWriteHour ?? 0
  const { cache_read_audio: cachedAudio = 0, cache_read_image: cachedImage = 0 } = apart
  collector.whole(usage.input ?? 0)
  addParts(collector, apart, ['cache_read_audio', 'cache_read_image'])
  collector.part('cache_read', Math.max(0, (usage.cacheRead ?? 0) - cachedAudio - cachedImage))
  collector.part('cache_write_1h', hour)
  collector.part('cache_write', Math.max(0, (usage.cacheWrite ?? 0) - hour))
  collector.part('input_audio', Math.max(0, (usage.audioInput ?? 0) - cachedAudio))
  addParts(collector, apart, ['input_image', 'input_video'])
  collector.rest('input')
}

function addParts(collector: Collector, counts: Counts, names: readonly Dimension[]): void {
  for (const name of names) collector.part(name, counts[name] ?? 0)
}
