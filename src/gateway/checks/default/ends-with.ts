import { z } from 'zod'
import { check, notField, verdict } from '../check.ts'

/** How the last text ends. */
export const endsWith = check({
  id: 'default.endsWith',
  title: 'Ends with',
  about: 'Passes when the last text ends with the suffix; a full stop may follow it.',
  fields: { suffix: z.string().min(1).max(1000).meta({ description: 'The end of the text.' }), not: notField },
  ready: ({ suffix, not }) => ({
    judgesPrefix: false,
    run({ parts }) {
      const text = parts.at(-1)?.text ?? ''
      const found = text.endsWith(suffix) || text.endsWith(`${suffix}.`)
      return verdict(found !== not, `The text ${found ? 'ends' : 'does not end'} with the suffix.`, { suffix, not })
    },
  }),
})
