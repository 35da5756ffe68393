import type { DialectTexts } from '../dialect.ts'
import { turns } from '../texts/readers.ts'

export const texts: DialectTexts = { request: { input: turns }, answer: ['data'] }
