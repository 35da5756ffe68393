import { z } from 'zod'
import { check, notField, textOf, verdict } from '../check.ts'

interface CountCheck {
  readonly id: string
  readonly title: string
  readonly noun: 'sentences' | 'words' | 'characters'
  readonly most: number
  /** Counts, and may stop as soon as there are more than `enough`. */
  readonly count: (text: string, enough: number) => number
  /** True when that never takes long. */
  readonly anyLength: boolean
}

const bound = (otherwise: number) => z.number().min(0).default(otherwise)

/** A check of how long the texts are together. */
export function countCheck({ id, title, noun, most, count, anyLength }: CountCheck) {
  const suffix = noun.charAt(0).toUpperCase() + noun.slice(1)
  const [min, max] = [`min${suffix}`, `max${suffix}`]
  return check({
    id,
    title,
    about: `Passes when the texts together have at least \`${min}\` and at most \`${max}\` ${noun}.`,
    anyLength,
    fields: {
      [min]: bound(0).meta({ description: `The least number of ${noun}.` }),
      [max]: bound(most).meta({ description: `The largest number of ${noun}.` }),
      not: notField,
    },
    rule: (given) => (Number(given[min]) > Number(given[max]) ? { field: min, message: `It is larger than ${max}.` } : null),
    ready(given) {
      const [least, largest, not] = [Number(given[min]), Number(given[max]), given['not'] === true]
      return {
        judgesPrefix: !not && least === 0,
        reachesBack: 0,
        run(subject) {
          const found = count(textOf(subject), largest)
          const within = found >= least && found <= largest
          return verdict(
            within !== not,
            `The text has ${found > largest ? `more than ${largest}` : found} ${noun}; ${least} to ${largest} are asked for.`,
            { not },
          )
        },
      }
    },
  })
}
