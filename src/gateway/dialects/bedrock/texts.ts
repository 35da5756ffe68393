import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Converse, and `inputText` of models that are invoked. */
export const texts: DialectTexts = {
  system: ['system'],
  request: { messages: turns, inputText: saidBy('user') },
  conversations: ['messages'],
  roles: { toolConfig: 'system' },
  answer: ['output'],
  speaks: true,
}
