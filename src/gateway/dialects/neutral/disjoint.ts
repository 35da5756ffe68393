import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Counts, Dimension } from './counts.ts'
import type { TokenUsage } from './token-usage.ts'

/** Counts as a provider's usage object was read into them. */
export interface ReadCounts {
  readonly counts: Counts
  /** True if the provider's figures contradict each other: a part was larger than its whole, and was cut down. */
  readonly inconsistent: boolean
}

/** Reads the whole number at a path; 0 when there is none. */
export function countAt(fields: Fields, ...path: readonly string[]): number {
  let value: unknown = fields
  for (const name of path) value = isFields(value) ? value[name] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** A part of a total. */
export type Part = readonly [dimension: Dimension, count: number]

/** Collects disjoint counts. */
export interface Collector {
  /** Adds the parts that a total contains, and the rest of it under `rest`. */
  split(total: number, rest: Dimension, parts: readonly Part[]): void
  /** Adds counts that nothing contains. */
  add(...parts: readonly Part[]): void
  read(): ReadCounts
}

/** Returns an empty collector. Parts never come to more than their total: nothing is charged twice, and nothing below zero. */
export function collectCounts(): Collector {
  const counts: Partial<Record<Dimension, number>> = {}
  let inconsistent = false
  const add = (dimension: Dimension, count: number) => {
    if (count > 0) counts[dimension] = (counts[dimension] ?? 0) + count
  }
  return {
    split(total, rest, parts) {
      let left = total
      for (const [dimension, count] of parts) {
        if (count > left) inconsistent = true
        add(dimension, Math.min(count, left))
        left -= Math.min(count, left)
      }
      add(rest, left)
    },
    add(...parts) {
      for (const [dimension, count] of parts) add(dimension, count)
    },
    read: () => ({ counts, inconsistent }),
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
  for (const [name, count] of Object.entries(counts)) if (ofPrompt.has(name)) sum += count
  return sum
}

/** Reads the counts of an answer that was translated, which are totals in one way whoever counted. */
export function disjointCounts(usage: TokenUsage): ReadCounts {
  const collector = collectCounts()
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
