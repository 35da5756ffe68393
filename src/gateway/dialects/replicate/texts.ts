import type { DialectTexts } from '../dialect.ts'
import { saidBy } from '../texts/readers.ts'

/** Predictions: what a model reads stands below one field. */
export const texts: DialectTexts = { request: { input: saidBy('user') }, answer: ['output'], speaks: true }
