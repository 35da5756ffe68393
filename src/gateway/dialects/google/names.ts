import { fieldsByName } from '../neutral/field-names.ts'
import type { FieldNames } from '../neutral/request.ts'

export const names: FieldNames = {
  tools: 'tools',
  toolChoice: 'toolConfig.functionCallingConfig',
  parallelTools: 'toolConfig.functionCallingConfig',
  maxTokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  format: 'generationConfig.responseSchema',
  modalities: 'generationConfig.responseModalities',
  candidates: 'generationConfig.candidateCount',
  logprobs: 'generationConfig.responseLogprobs',
  topLogprobs: 'generationConfig.logprobs',
  temperature: 'generationConfig.temperature',
  topP: 'generationConfig.topP',
  topK: 'generationConfig.topK',
  seed: 'generationConfig.seed',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  presencePenalty: 'generationConfig.presencePenalty',
  reasoning: 'generationConfig.thinkingConfig',
  metadata: 'labels',
  store: 'store',
  tier: 'serviceTier',
}

export const errorFields = fieldsByName(names, {
  'generationConfig.responseJsonSchema': 'format',
  'generationConfig.responseMimeType': 'format',
})
