import type { DialectTexts } from '../dialect.ts'
import { choicesFrame } from '../openai-chat/texts.ts'
import { saidBy } from '../texts/readers.ts'

export const texts: DialectTexts = {
  request: { prompt: saidBy('user'), suffix: saidBy('user') },
  unheard: ['metadata', 'stop'],
  answer: ['choices'],
  speaks: true,
  frame: choicesFrame,
}
