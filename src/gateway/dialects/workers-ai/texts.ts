import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Text generation, embeddings and rerank. */
export const texts: DialectTexts = {
  request: { messages: turns, contexts: saidBy('user') },
  conversations: ['messages'],
  roles: { tools: 'system', response_format: 'system' },
  answer: ['result', 'response'],
  speaks: true,
}
