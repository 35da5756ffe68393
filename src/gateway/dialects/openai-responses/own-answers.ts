import { type ApiError, errorBody } from '../../../lib/errors.ts'
import type { OwnAnswers } from '../dialect.ts'
import { models } from '../openai-chat/own-answers.ts'

/** Some clients look for `error`, others go by `type`. */
function errorEvent(error: ApiError, requestId: string): string {
  const { code, message, param } = error
  return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param, ...errorBody(error, requestId) })}\n\n`
}

export const ownAnswers: OwnAnswers = { errorBody, errorEvent, models }
