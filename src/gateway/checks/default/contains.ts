import { z } from 'zod'
import { createCpuBudget } from '../../patterns/cpu-budget.ts'
import { check, textOf, verdict } from '../check.ts'
import { unspaced } from './unspaced.ts'

/** How many of a list must be there. */
export const operatorField = z.enum(['any', 'all', 'none']).default('any')

export type Operator = z.output<typeof operatorField>

/** Returns whether enough of a list was found. */
export function satisfies(operator: Operator, found: number, listed: number): boolean {
  if (operator === 'none') return found === 0
  return operator === 'all' ? found === listed : found > 0
}

const partOfWord = /[\p{L}\p{M}\p{N}_]/u

/** Returns true if two characters belong to one word. Words of a script without spaces have no edges to look at. */
const joins = (one: string | undefined, other: string | undefined): boolean =>
  [one, other].every((char) => char !== undefined && partOfWord.test(char) && !unspaced.test(char))

const firstOf = (text: string): string | undefined => /^./su.exec(text)?.[0]
const lastOf = (text: string): string | undefined => /.$/su.exec(text)?.[0]

/** Returns true if a text has a word that is no part of a longer one. */
function hasWhole(text: string, word: string, spend: () => void): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    spend()
    const end = at + word.length
    const before = lastOf(text.slice(Math.max(0, at - 2), at))
    if (!joins(before, firstOf(word)) && !joins(lastOf(word), firstOf(text.slice(end, end + 2)))) return true
  }
  return false
}

/** Checks whether the text has words or phrases. */
export const contains = check({
  id: 'default.contains',
  title: 'Contains',
  about: 'Passes when any, all or none of the words or phrases are in the texts. Case counts.',
  fields: {
    words: z.array(z.string().min(1).max(1000)).min(1).max(1000).meta({ description: 'Words or phrases.' }),
    operator: operatorField.meta({ description: 'Whether any, all or none of them must be there.' }),
    wholeWords: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether a word counts only if it is no part of a longer one: `art` is not in `start`.' }),
  },
  ready: ({ words, operator, wholeWords }) => ({
    // The end of a stream's first part may be the middle of a word.
    judgesPrefix: operator === 'none' && !wholeWords,
    reachesBack: Math.max(...words.map(({ length }) => length)),
    run(subject) {
      const text = textOf(subject)
      const spend = createCpuBudget(text.length)
      const foundWords = words.filter((word) => {
        // The search for one word is quick, unless it almost matches everywhere.
        spend()
        return wholeWords ? hasWhole(text, word, spend) : text.includes(word)
      })
      const passed = satisfies(operator, foundWords.length, words.length)
      return verdict(passed, `${foundWords.length} of ${words.length} words were found; ${operator} should be.`, { foundWords, operator })
    },
  }),
})
