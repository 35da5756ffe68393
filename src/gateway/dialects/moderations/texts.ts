import type { DialectTexts } from '../dialect.ts'
import { turns } from '../texts/readers.ts'

/** Answers hold no texts: they are figures about the input. */
export const texts: DialectTexts = { request: { input: turns }, answer: [] }
