import { fieldsByName } from '../neutral/field-names.ts'
import type { FieldNames } from '../neutral/request.ts'

export const names: FieldNames = {
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelTools: 'tool_choice.disable_parallel_tool_use',
  maxTokens: 'max_tokens',
  stop: 'stop_sequences',
  format: 'output_config.format',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  reasoning: 'thinking',
  user: 'metadata.user_id',
  metadata: 'metadata',
  tier: 'service_tier',
  cache: 'cache_control',
}

export const errorFields = fieldsByName(names, { output_format: 'format', 'output_config.effort': 'reasoning' })
