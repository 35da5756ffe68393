import type { AnswerMarks } from '../dialect.ts'

/** Errors look as OpenAI's do. */
export const marks: AnswerMarks = { end: ['"finishReason"'], error: [] }
