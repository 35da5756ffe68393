import type { DialectTexts } from '../dialect.ts'
import { saidBy, turns } from '../texts/readers.ts'

/** Speech, transcriptions and translations. */
export const texts: DialectTexts = {
  system: ['instructions'],
  request: { prompt: saidBy('user'), input: turns },
  answer: ['text', 'segments'],
}
