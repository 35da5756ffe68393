import type { Fields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads Anthropic's usage: uncached, read and written tokens are apart, and writes for an hour are within those written. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const hour = countAt(usage, 'cache_creation', 'ephemeral_1h_input_tokens')
  const written = countAt(usage, 'cache_creation_input_tokens') || hour + countAt(usage, 'cache_creation', 'ephemeral_5m_input_tokens')
  collector.add('input', countAt(usage, 'input_tokens'))
  collector.add('cache_read', countAt(usage, 'cache_read_input_tokens'))
  collector.whole(written)
  collector.part('cache_write_1h', hour)
  collector.rest('cache_write')
  collector.whole(countAt(usage, 'output_tokens'))
  collector.part('reasoning', countAt(usage, 'output_tokens_details', 'thinking_tokens'))
  collector.rest('output')
  collector.add('web_search', countAt(usage, 'server_tool_use', 'web_search_requests'))
  return collector.read()
}
