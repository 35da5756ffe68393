import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** The places of Ollama's bodies for chat and embeddings where people and models write. */
export const texts: DialectTexts = {
  request: { messages: turns, input: saidBy('user') },
  conversations: ['messages'],
  roles: { tools: 'system', format: 'system' },
  answer: ['message'],
  speaks: true,
}
