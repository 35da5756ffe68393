import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'

const nothing: Fields = {}

/** Reads token counts. What is billed may be less than what was read, and counts only where nothing else does. */
export function readCounts(usage: Fields): TokenUsage {
  const [tokens, billed] = [saidFields(usage, 'tokens') ?? nothing, saidFields(usage, 'billed_units') ?? nothing]
  return {
    ...noUsage,
    input: countOf(tokens['input_tokens']) ?? countOf(billed['input_tokens']),
    cacheRead: countOf(usage['cached_tokens']),
    output: countOf(tokens['output_tokens']) ?? countOf(billed['output_tokens']),
    searches: countOf(billed['search_units']),
  }
}
