import { z } from 'zod'
import { compilePattern, longestPattern, patternFault } from '../../pattern.ts'
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

/** Whether a text of the conversation matches a pattern. */
export const regexMatch = check({
  id: 'default.regexMatch',
  title: 'Regex match',
  about: 'Passes when a text matches the pattern (RE2 syntax, linear time); with `not`, when none does.',
  fields: { rule: patternField.meta({ description: 'The pattern, also as `/pattern/i`.' }), not: notField },
  ready({ rule, not }) {
    const pattern = compilePattern(rule)
    return {
      judgesPrefix: not,
      run({ parts }) {
        const found = parts.some(({ text }) => pattern.test(text))
        return verdict(found !== not, `The pattern ${found ? 'matches' : 'does not match'}.`, { regexPattern: rule, not })
      },
    }
  },
})
