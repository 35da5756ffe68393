import { z } from 'zod'
import { createCpuBudget } from '../../patterns/cpu-budget.ts'
import { check, textOf, verdict } from '../check.ts'
import { operatorField, satisfies } from './contains.ts'
import { demandComplete, jsonIn } from './json-in-text.ts'

/** Checks whether JSON in the answer has keys. */
export const jsonKeys = check({
  id: 'default.jsonKeys',
  title: 'JSON keys',
  about: 'Passes when JSON in the answer has any, all or none of the keys at its top level.',
  phases: ['output'],
  fields: {
    keys: z.array(z.string().min(1).max(1000)).min(1).max(1000).meta({ description: 'Names of keys.' }),
    operator: operatorField.meta({ description: 'Whether any, all or none of them must be there.' }),
  },
  ready: ({ keys, operator }) => ({
    judgesPrefix: false,
    run(subject) {
      const text = textOf(subject)
      const spend = createCpuBudget(text.length)
      const found = jsonIn(text, { everywhere: operator === 'none' })
      const presentKeys = found.values.map((value) => {
        spend()
        return keys.filter((key) => typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      })
      const satisfied = (present: readonly string[]) => satisfies(operator, present.length, keys.length)
      const decided = operator === 'none' ? !presentKeys.every(satisfied) : presentKeys.some(satisfied)
      if (!decided) demandComplete(found)
      if (found.values.length === 0) return verdict(false, 'There is no JSON in the answer.', { operator })
      const passed = decided === (operator !== 'none')
      return verdict(passed, `${operator} of the keys should be there.`, { presentKeys: [...new Set(presentKeys.flat())], operator })
    },
  }),
})
