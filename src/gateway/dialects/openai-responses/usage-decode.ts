import type { Fields } from '../../../lib/json/fields.ts'
import { toldCounts } from '../neutral/counts.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields, saidList } from '../reading.ts'
import { drawnOf } from './drawn.ts'
import { soldTools } from './sold-tools.ts'

const nothing: Fields = {}

/** Reads token counts, in which every part is within the total of its side, and counts the tools that the provider ran for a response. */
export function usageOf(usage: Fields, response: Fields): TokenUsage {
  const items = saidList(response, 'output')
  const { web_search: searches = null, ...apart } = soldTools(items, response['tools'])
  const input = saidFields(usage, 'input_tokens_details') ?? nothing
  const output = saidFields(usage, 'output_tokens_details') ?? nothing
  return {
    ...noUsage,
    input: countOf(usage['input_tokens']),
    cacheRead: countOf(input['cached_tokens']),
    cacheWrite: countOf(input['cache_write_tokens']),
    output: countOf(usage['output_tokens']),
    reasoning: countOf(output['reasoning_tokens']),
    searches,
    apart: toldCounts(apart),
    own: usage,
    drawn: drawnOf(items, saidFields(saidFields(response, 'tool_usage') ?? nothing, 'image_gen')),
  }
}
