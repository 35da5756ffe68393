import type { AnswerMarks } from '../dialect.ts'

export const marks: AnswerMarks = { end: ['event: message_stop', 'event:message_stop'], error: [/^event: ?error/m] }
