import { z } from 'zod'
import { check, notField, verdict } from '../check.ts'

/** Behind the suffix: white space, and a full stop of any script. */
const ending = /^\s*[.。．｡]?\s*$/u
/** So much white space counts: a megabyte of it need not be looked at. */
const longestEnding = 1000

/** The end of the last text. */
export const endsWith = check({
  id: 'default.endsWith',
  title: 'Ends with',
  about: 'Passes when the last text ends with the suffix; a full stop and white space may follow it.',
  fields: { suffix: z.string().min(1).max(1000).meta({ description: 'The end of the text.' }), not: notField },
  ready: ({ suffix, not }) => ({
    judgesPrefix: false,
    run({ parts }) {
      const found = isEnd(suffix, parts.at(-1)?.text ?? '')
      return verdict(found !== not, `The text ${found ? 'ends' : 'does not end'} with the suffix.`, { suffix, not })
    },
  }),
})

function isEnd(suffix: string, text: string): boolean {
  const rest = text.slice(-(longestEnding + suffix.length))
  const at = rest.lastIndexOf(suffix)
  return at !== -1 && ending.test(rest.slice(at + suffix.length))
}
