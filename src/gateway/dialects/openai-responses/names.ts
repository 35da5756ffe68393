import { fieldsByName } from '../neutral/field-names.ts'
import type { FieldNames } from '../neutral/request.ts'

export const names: FieldNames = {
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelTools: 'parallel_tool_calls',
  maxTokens: 'max_output_tokens',
  format: 'text.format',
  logprobs: 'include',
  topLogprobs: 'top_logprobs',
  temperature: 'temperature',
  topP: 'top_p',
  verbosity: 'text.verbosity',
  reasoning: 'reasoning',
  user: 'safety_identifier',
  metadata: 'metadata',
  store: 'store',
  tier: 'service_tier',
  cache: 'prompt_cache_options',
}

export const errorFields = fieldsByName(names, { user: 'user' })
