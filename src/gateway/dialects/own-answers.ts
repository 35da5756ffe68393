import { ownAnswers as anthropic } from './anthropic/own-answers.ts'
import type { ClientDialectId, OwnAnswers } from './dialect.ts'
import { ownAnswers as google } from './google/own-answers.ts'
import { ownAnswers as chat } from './openai-chat/own-answers.ts'
import { ownAnswers as responses } from './openai-responses/own-answers.ts'

/** The answers of Gatehouse's own, by the dialect of the client. */
export const ownAnswers: Readonly<Record<ClientDialectId, OwnAnswers>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
  google,
}
