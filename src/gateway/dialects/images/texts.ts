import type { DialectTexts } from '../dialect.ts'
import { saidBy } from '../texts/readers.ts'

/** Answers repeat the prompt as it was really drawn. */
export const texts: DialectTexts = { request: { prompt: saidBy('user') }, answer: ['data'] }
