import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'

const nothing: Fields = {}

/** Reads token counts: every part is within the total of its side. */
export function readUsage(usage: Fields): TokenUsage {
  const input = saidFields(usage, 'input_tokens_details') ?? nothing
  const output = saidFields(usage, 'output_tokens_details') ?? nothing
  return {
    ...noUsage,
    input: countOf(usage['input_tokens']),
    cacheRead: countOf(input['cached_tokens']),
    cacheWrite: countOf(input['cache_write_tokens']),
    output: countOf(usage['output_tokens']),
    reasoning: countOf(output['reasoning_tokens']),
  }
}
