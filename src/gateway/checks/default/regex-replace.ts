import { z } from 'zod'
import { compilePattern, type Match } from '../../patterns/pattern.ts'
import { check, verdict, type BodyEdit } from '../check.ts'
import { patternField } from './regex-match.ts'

/** Replaces the matches of a pattern. */
export const regexReplace = check({
  id: 'default.regexReplace',
  title: 'Regex replace',
  about: 'Replaces every match of the pattern (RE2 syntax, linear time) by a fixed text.',
  changes: true,
  fields: {
    rule: patternField.meta({ description: 'The pattern, also as `/pattern/i`.' }),
    redactText: z.string().max(1000).default('[REDACTED]').meta({ description: 'The text in place of a match.' }),
    failOnDetection: z.boolean().default(false).meta({ description: 'Whether a match is a failure too.' }),
  },
  ready({ rule, redactText, failOnDetection }) {
    const pattern = compilePattern(rule)
    return {
      judgesPrefix: false,
      run({ parts }) {
        const matches = pattern.matches(parts.map(({ text }) => text))
        const edits = parts.flatMap(({ path, text }, at): BodyEdit[] => {
          const value = replaced(text, matches[at] ?? [], redactText)
          return value === text ? [] : [{ path, value }]
        })
        const found = edits.length > 0
        const explanation = found ? 'Matches were replaced.' : 'The pattern does not match.'
        return { ...verdict(!(found && failOnDetection), explanation, { regexPattern: rule }), edits }
      },
    }
  },
})

function replaced(text: string, matches: readonly Match[], by: string): string {
  let result = ''
  let from = 0
  for (const { start, end } of matches) {
    result += text.slice(from, start) + (end > start ? by : '')
    from = end
  }
  return result + text.slice(from)
}
