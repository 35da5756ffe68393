import type { UsagePlaces } from '../dialect.ts'

export const usage: UsagePlaces = {
  inputTokens: [['input_tokens']],
  outputTokens: [['output_tokens']],
  totalTokens: [],
  cacheReadTokens: [['cache_read_input_tokens']],
  cacheWriteTokens: [['cache_creation_input_tokens']],
  reasoningTokens: [],
}
