import type { UsagePlaces } from '../dialect.ts'

export const usage: UsagePlaces = {
  key: 'usageMetadata',
  inputTokens: [['promptTokenCount']],
  outputTokens: [['candidatesTokenCount']],
  totalTokens: [['totalTokenCount']],
  cacheReadTokens: [['cachedContentTokenCount']],
  cacheWriteTokens: [],
  reasoningTokens: [['thoughtsTokenCount']],
}
