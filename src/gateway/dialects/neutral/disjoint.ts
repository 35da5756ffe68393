import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Counts, Dimension } from './counts.ts'

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
