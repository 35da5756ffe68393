import type { AnswerMarks } from '../dialect.ts'

export const marks: AnswerMarks = { end: ['"response.completed"'], error: [/"type": ?"response\.(?:failed|incomplete)"/] }
