import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { CountPlace } from './dialect.ts'
import type { Usage } from './neutral/usage.ts'
import { dialects } from './registry.ts'

const everyUsage = Object.values(dialects).flatMap(({ usage = null }) => (usage === null ? [] : [usage]))
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

/** Reads the figures of a usage object that the log shows. */
export function usageFigures(counts: Fields): Usage {
  const pick = (candidates: readonly CountPlace[]): number | null => {
    let found: number | null = null
    for (const place of candidates) found = count(counts, place) ?? found
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
  // Destructuring an array would make an iterator, and this runs dozens of times an answer.
  const inner = place[1]
  const held = counts[place[0]]
  const value = inner === undefined ? held : isFields(held) ? held[inner] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
