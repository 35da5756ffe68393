import type { DialectTexts } from '../dialect.ts'
import { saidBy } from '../texts/readers.ts'

/** Predictions: the input of a model stands below one field. */
export const texts: DialectTexts = { request: { input: saidBy('user') }, answer: ['output'], speaks: true }
