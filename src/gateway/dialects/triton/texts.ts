import type { DialectTexts } from '../dialect.ts'
import { saidBy } from '../texts/readers.ts'

/** Texts that are completed. */
export const texts: DialectTexts = { request: { text_input: saidBy('user') }, answer: ['text_output'], speaks: true }
