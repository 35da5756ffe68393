import { fieldsByName } from '../neutral/field-names.ts'
import type { FieldNames, RequestField } from '../neutral/request.ts'

export const names: FieldNames = {
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelTools: 'parallel_tool_calls',
  maxTokens: 'max_tokens',
  stop: 'stop',
  format: 'response_format',
  modalities: 'modalities',
  candidates: 'n',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  verbosity: 'verbosity',
  reasoning: 'reasoning_effort',
  user: 'user',
  metadata: 'metadata',
  store: 'store',
  tier: 'service_tier',
  cache: 'cache_control',
}

export const errorFields = fieldsByName(names, { max_completion_tokens: 'maxTokens', safety_identifier: 'user', random_seed: 'seed' })

/** Returns the field of a request for a parameter of a chat; null: none of them. */
export const fieldNamed = (parameter: string): RequestField | null => errorFields.get(parameter) ?? null
