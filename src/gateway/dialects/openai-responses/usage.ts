import type { UsagePlaces } from '../dialect.ts'

/** Images count in the same words. */
export const usage: UsagePlaces = {
  inputTokens: [['input_tokens']],
  outputTokens: [['output_tokens']],
  totalTokens: [['total_tokens']],
  cacheReadTokens: [['input_tokens_details', 'cached_tokens']],
  cacheWriteTokens: [],
  reasoningTokens: [['output_tokens_details', 'reasoning_tokens']],
}
