import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads the usage of Converse: uncached, read and written tokens are apart. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  collector.add('input', countAt(usage, 'inputTokens'))
  collector.add('cache_read', countAt(usage, 'cacheReadInputTokens'))
  collector.whole(countAt(usage, 'cacheWriteInputTokens'))
  collector.part('cache_write_1h', writtenForAnHour(usage['cacheDetails']))
  collector.rest('cache_write')
  collector.add('output', countAt(usage, 'outputTokens'))
  return collector.read()
}

function writtenForAnHour(details: unknown): number {
  const parts: readonly unknown[] = Array.isArray(details) ? details : []
  return parts.reduce<number>((sum, part) => sum + (isFields(part) && part['ttl'] === '1h' ? countAt(part, 'inputTokens') : 0), 0)
}

/** Reads the fields that Invoke adds to the last chunk of a stream, under its own names. */
export function readInvocationCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  collector.add('input', countAt(usage, 'inputTokenCount'))
  collector.add('cache_read', countAt(usage, 'cacheReadInputTokenCount'))
  collector.add('cache_write', countAt(usage, 'cacheWriteInputTokenCount'))
  collector.add('output', countAt(usage, 'outputTokenCount'))
  return collector.read()
}
