import { byType, reads } from '../unplaced.ts'

const mark = { cache_control: reads('type ttl') }
const source = { source: reads('type media_type data url file_id content') }
const shown = {
  text: reads('type text cache_control', mark),
  image: reads('type source cache_control', { ...source, ...mark }),
  document: reads('type source title context citations cache_control', { ...source, ...mark }),
  search_result: reads('type title source content cache_control', mark),
}
const blocks = byType({
  ...shown,
  tool_use: reads('type id name input cache_control', mark),
  tool_result: reads('type tool_use_id content is_error cache_control', { content: byType(shown), ...mark }),
  thinking: reads('type thinking signature cache_control'),
  redacted_thinking: reads('type data cache_control'),
})

/** The fields of Messages that are read, below those of the request itself. */
export const fieldsRead = {
  system: blocks,
  messages: reads('role content', { content: blocks }),
  tools: byType({ custom: reads('type name description input_schema strict cache_control', mark) }, 'custom'),
  tool_choice: reads('type name disable_parallel_tool_use'),
  thinking: reads('type budget_tokens display'),
  output_config: reads('effort format', { format: reads('type schema') }),
  metadata: reads('user_id'),
}
