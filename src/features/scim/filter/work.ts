import { scimError } from '../scim-error.ts'
import type { Comparison } from './filter.ts'

/** The work that one request may still cost. Operations, values and comparisons each have bounds, and multiply. */
export interface Work {
  left: number
}

/** About half a second; a thousand operations on a list of a thousand values take a tenth of it. */
const mostSteps = 10_000_000

/** Returns the work that a request may cost, in steps of a few ten nanoseconds. */
export const createWork = (): Work => ({ left: mostSteps })

/** Takes steps from the work of a request. Throws `tooMany`. */
export function spend(work: Work, steps: number): void {
  work.left -= steps
  if (work.left < 0)
    throw scimError(
      'tooMany',
      'The operations of this request compare too much with each other. Send them in several requests.',
      'Operations',
    )
}

const charactersInStep = 16
const productInStep = 64

/** Returns the steps of copying a text and looking it up. */
export const stepsOfReading = (text: string): number => text.length / 4

/** Returns the steps of a comparison: a search for one text in another may compare each character with each. */
export const stepsOf = (operator: Comparison, held: string, given: string): number =>
  1 + (held.length + given.length) / charactersInStep + (operator === 'co' ? (held.length * given.length) / productInStep : 0)
