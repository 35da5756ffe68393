import type { DialectTexts } from '../dialect.ts'
import { turns } from '../texts/readers.ts'

/** Answers say nothing: they are figures about what was said. */
export const texts: DialectTexts = { request: { input: turns }, answer: [] }
