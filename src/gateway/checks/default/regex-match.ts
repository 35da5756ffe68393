import { z } from 'zod'
import { longestPattern } from '../../patterns/pattern-engines.ts'
import { patternFault } from '../../patterns/pattern-making.ts'
import { compilePattern, type Pattern } from '../../patterns/pattern.ts'
import { check, notField, verdict } from '../check.ts'

/** A pattern in RE2 syntax, checked when it is stored. */
export const patternField = z
  .string()
  .min(1)
  .max(longestPattern)
  .superRefine((text, context) => {
    const fault = patternFault(text)
    if (fault !== null) context.addIssue({ code: 'custom', message: `The pattern ${fault}.` })
  })

/** The longest part of a stream that is held for a possible match: a pattern with longer ones is matched against the whole. */
const longestHeld = 1024

/** Returns whether a pattern that looks at the end of a text, or of a word in it, matches with any continuation. */
const staysFound = (pattern: Pattern, text: string): boolean => ['_', ' ', '\n'].every((next) => pattern.test(text + next))

/** Checks whether a text of the conversation matches a pattern. */
export const regexMatch = check({
  id: 'default.regexMatch',
  title: 'Regex match',
  about: 'Passes when a text matches the pattern (RE2 syntax, linear time); with `not`, when none does.',
  fields: { rule: patternField.meta({ description: 'The pattern, also as `/pattern/i`.' }), not: notField },
  ready({ rule, not }) {
    const pattern = compilePattern(rule)
    const { longest, readsEnd } = not ? pattern.reach() : { longest: Infinity, readsEnd: true }
    return {
      judgesPrefix: longest <= longestHeld,
      reachesBack: longest,
      run({ parts, unfinished }) {
        const found = parts.some(({ text }) => pattern.test(text) && (unfinished !== true || !readsEnd || staysFound(pattern, text)))
        return verdict(found !== not, `The pattern ${found ? 'matches' : 'does not match'}.`, { regexPattern: rule, not })
      },
    }
  },
})
