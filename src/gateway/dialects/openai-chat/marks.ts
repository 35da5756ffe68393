import type { AnswerMarks } from '../dialect.ts'

/** The data of the frame that ends a stream; responses of models have it only at some providers. */
export const doneMark = '[DONE]'

export const marks: AnswerMarks = {
  end: [`data: ${doneMark}`, `data:${doneMark}`],
  error: [/^\s*\{\s*"error"/, /^data: ?\{\s*"error"/m],
}
