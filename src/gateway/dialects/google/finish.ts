import { type Finish, finishOf, type FinishReason } from '../neutral/finish.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  LANGUAGE: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
}

/** Reads a finish. Google sends `STOP` behind a call too. */
export function readFinish(word: string, called: boolean, message: string | null): Finish {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other'
  const told = called && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason
  return { ...finishOf(told, word), explanation: reason === 'content-filter' ? message : null }
}

/** Returns the finish of a prompt that was not answered at all. */
export const blockedFinish = (word: string, message: string | null): Finish => ({
  ...finishOf('content-filter', word),
  explanation: message ?? `The prompt was blocked: ${word}.`,
})

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  context: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  pause: 'STOP',
  error: 'OTHER',
  other: 'OTHER',
}

export const writeFinish = ({ reason }: Finish): string => words[reason]
