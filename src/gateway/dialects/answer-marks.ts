import { dialects } from './registry.ts'

const everyMarks = Object.values(dialects).flatMap(({ marks = null }) => (marks === null ? [] : [marks]))
const endMarks = everyMarks.flatMap(({ end }) => end)
const errorMarks = everyMarks.flatMap(({ error }) => error)

/** So much of the end of a stream is looked at. */
const tailBytes = 4096

/** Returns whether the bytes of a success hold an error of any dialect. */
export const holdsError = (text: string): boolean => errorMarks.some((mark) => mark.test(text))

/** Returns whether a stream came to its end, and did not break off. */
export const hasEnded = (text: string): boolean => endMarks.some((mark) => text.lastIndexOf(mark) >= Math.max(0, text.length - tailBytes))
