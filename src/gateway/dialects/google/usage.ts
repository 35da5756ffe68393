import type { UsagePlaces } from '../dialect.ts'

export const usage: UsagePlaces = {
  inputTokens: [['promptTokenCount']],
  outputTokens: [['candidatesTokenCount']],
  totalTokens: [['totalTokenCount']],
  cacheReadTokens: [['cachedContentTokenCount']],
  cacheWriteTokens: [],
  reasoningTokens: [['thoughtsTokenCount']],
}
