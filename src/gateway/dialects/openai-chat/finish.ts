import { type Finish, finishOf, type FinishReason } from '../neutral/finish.ts'

/** Its own words, and those of servers that speak it. */
const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  length: 'length',
  max_tokens: 'length',
  model_length: 'context',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  error: 'error',
  abort: 'error',
  insufficient_system_resource: 'error',
}

/** Reads a finish. A `stop` behind a call means the call. */
export function readFinish(word: string, called: boolean): Finish {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other'
  return finishOf(called && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason, word)
}

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  context: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  pause: 'stop',
  error: 'stop',
  other: 'stop',
}

export const writeFinish = ({ reason }: Finish, isOld: boolean): string =>
  reason === 'tool-calls' && isOld ? 'function_call' : words[reason]
