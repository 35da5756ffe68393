import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'

const nothing: Fields = {}

/** Reads token counts: those that are billed. `tokens` beside them has the template of the prompt too, for which nobody pays. */
export function readCounts(usage: Fields): TokenUsage {
  const [tokens, billed] = [saidFields(usage, 'tokens') ?? nothing, saidFields(usage, 'billed_units') ?? nothing]
  return {
    ...noUsage,
    input: countOf(billed['input_tokens']) ?? countOf(tokens['input_tokens']),
    cacheRead: countOf(usage['cached_tokens']),
    output: countOf(billed['output_tokens']) ?? countOf(tokens['output_tokens']),
    searches: countOf(billed['search_units']),
  }
}
