import { isFields } from '../../../lib/json/fields.ts'
import type { TextReader } from '../dialect.ts'
import { contentTexts, inItems, roleOf } from './walk.ts'

/** Returns a reader of texts that all have one role. */
export const saidBy =
  (role: string): TextReader =>
  (value, path) =>
    contentTexts(value, path, role)

/** Reads turns, each by the role that it names. */
export const turns: TextReader = (value, path) =>
  Array.isArray(value)
    ? inItems(value, path, (turn, at) => contentTexts(turn, at, roleOfTurn(turn)))
    : contentTexts(value, path, roleOfTurn(value))

const roleOfTurn = (turn: unknown): string => roleOf(turn, isFields(turn) && String(turn['type']).endsWith('_output') ? 'tool' : 'user')
