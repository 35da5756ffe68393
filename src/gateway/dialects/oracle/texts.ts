import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Chat, whose words stand below one field, embeddings and rerank. */
export const texts: DialectTexts = {
  request: { chatRequest: turns, inputs: saidBy('user'), input: saidBy('user'), documents: saidBy('user') },
  conversations: ['chatRequest'],
  answer: ['chatResponse'],
  speaks: true,
}
