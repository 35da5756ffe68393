import type { UsagePlaces } from '../dialect.ts'

/** Images count in the same words, realtime sessions in nearly the same. */
export const usage: UsagePlaces = {
  inputTokens: [['input_tokens']],
  outputTokens: [['output_tokens']],
  totalTokens: [['total_tokens']],
  cacheReadTokens: [
    ['input_tokens_details', 'cached_tokens'],
    ['input_token_details', 'cached_tokens'],
  ],
  cacheWriteTokens: [],
  reasoningTokens: [['output_tokens_details', 'reasoning_tokens']],
}
