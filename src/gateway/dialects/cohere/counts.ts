import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'

const nothing: Fields = {}

/** Reads token counts: those that are billed. `tokens` beside them has the template of the prompt too, which is free. */
export function readCounts(usage: Fields): TokenUsage {
  const [tokens, billed] = [saidFields(usage, 'tokens') ?? nothing, saidFields(usage, 'billed_units') ?? nothing]
  const input = countOf(billed['input_tokens']) ?? countOf(tokens['input_tokens'])
  const cached = countOf(usage['cached_tokens'])
  return {
    ...noUsage,
    input,
    // Tokens of the template may come from the cache too: no more of them are billed than of the prompt.
    cacheRead: cached === null || input === null ? cached : Math.min(cached, input),
    output: countOf(billed['output_tokens']) ?? countOf(tokens['output_tokens']),
    searches: countOf(billed['search_units']),
  }
}
