import { countCheck } from './counts.ts'

/** Checks the number of characters. */
export const characterCount = countCheck({
  id: 'default.characterCount',
  title: 'Character count',
  noun: 'characters',
  most: 9_999_999,
  count: (text) => text.length,
  anyLength: true,
})
