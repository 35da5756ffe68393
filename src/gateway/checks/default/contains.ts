import { z } from 'zod'
import { createCpuBudget } from '../../patterns/cpu-budget.ts'
import { check, textOf, verdict } from '../check.ts'

/** How many of a list must be there. */
export const operatorField = z.enum(['any', 'all', 'none']).default('any')

export type Operator = z.output<typeof operatorField>

/** Tells whether enough of a list was found. */
export function satisfies(operator: Operator, found: number, listed: number): boolean {
  if (operator === 'none') return found === 0
  return operator === 'all' ? found === listed : found > 0
}

/** Checks whether words or phrases are said. */
export const contains = check({
  id: 'default.contains',
  title: 'Contains',
  about: 'Passes when any, all or none of the words or phrases are in the texts. Case counts.',
  fields: {
    words: z.array(z.string().min(1).max(1000)).min(1).max(1000).meta({ description: 'Words or phrases.' }),
    operator: operatorField.meta({ description: 'Whether any, all or none of them must be there.' }),
  },
  ready: ({ words, operator }) => ({
    judgesPrefix: operator === 'none',
    reachesBack: Math.max(...words.map(({ length }) => length)),
    run(subject) {
      const text = textOf(subject)
      const spend = createCpuBudget(text.length)
      const foundWords = words.filter((word) => {
        // The search for one word is quick, unless it almost matches everywhere.
        spend()
        return text.includes(word)
      })
      const passed = satisfies(operator, foundWords.length, words.length)
      return verdict(passed, `${foundWords.length} of ${words.length} words were found; ${operator} should be.`, { foundWords, operator })
    },
  }),
})
