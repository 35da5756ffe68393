import type { UsagePlaces } from '../dialect.ts'

/** Completions and embeddings count in the same words. */
export const usage: UsagePlaces = {
  inputTokens: [['prompt_tokens']],
  outputTokens: [['completion_tokens']],
  totalTokens: [['total_tokens']],
  cacheReadTokens: [['prompt_tokens_details', 'cached_tokens']],
  cacheWriteTokens: [],
  reasoningTokens: [['completion_tokens_details', 'reasoning_tokens']],
}
