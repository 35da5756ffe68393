import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Chat (both versions), embeddings and rerank. */
export const texts: DialectTexts = {
  system: ['preamble'],
  request: {
    chat_history: turns,
    messages: turns,
    message: saidBy('user'),
    inputs: saidBy('user'),
    texts: saidBy('user'),
    query: saidBy('user'),
    documents: saidBy('user'),
  },
  conversations: ['chat_history', 'messages'],
  roles: { tools: 'system', response_format: 'system' },
  unheard: ['stop_sequences'],
  answer: ['message', 'text'],
  speaks: true,
}
