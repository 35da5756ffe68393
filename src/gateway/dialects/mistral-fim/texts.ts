import type { DialectTexts } from '../dialect.ts'
import { saidBy } from '../texts/readers.ts'

/** Texts that are filled in. */
export const texts: DialectTexts = { request: { prompt: saidBy('user'), suffix: saidBy('user') }, answer: ['choices'], speaks: true }
