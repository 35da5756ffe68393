import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { saidList } from '../reading.ts'

/** Reads token counts. Cache reads are counted beside the input; for some models within it, which the total shows. */
export function readCounts(usage: Fields): TokenUsage {
  const [input, output, total] = [countOf(usage['inputTokens']), countOf(usage['outputTokens']), countOf(usage['totalTokens'])]
  const [cacheRead, cacheWrite] = [countOf(usage['cacheReadInputTokens']), countOf(usage['cacheWriteInputTokens'])]
  const isWithin = total !== null && (cacheRead ?? 0) > 0 && total === (input ?? 0) + (output ?? 0) && (input ?? 0) >= (cacheRead ?? 0)
  const hours = saidList(usage, 'cacheDetails').filter(({ ttl }) => ttl === '1h')
  return {
    ...noUsage,
    input: isWithin ? input : sumOf(input, cacheRead, cacheWrite),
    cacheRead,
    cacheWrite,
    cacheWriteHour: hours.length === 0 ? null : sumOf(...hours.map(({ inputTokens }) => countOf(inputTokens))),
    output,
    own: usage,
  }
}
