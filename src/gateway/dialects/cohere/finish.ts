import { type Finish, finishOf, type FinishReason } from '../neutral/finish.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop-sequence',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'error',
  ERROR_TOXIC: 'error',
  ERROR_LIMIT: 'error',
  TIMEOUT: 'error',
}

/** Reads a finish. */
export const readFinish = (word: string): Finish => finishOf(Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other', word)
