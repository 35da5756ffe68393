import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Chat and embeddings. */
export const texts: DialectTexts = {
  request: { messages: turns, input: saidBy('user') },
  conversations: ['messages'],
  roles: { tools: 'system', format: 'system' },
  answer: ['message'],
  speaks: true,
}
