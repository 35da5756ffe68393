import { type Finish, finishOf, type FinishReason } from '../neutral/finish.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  model_context_window_exceeded: 'context',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
}

/** Reads a finish. Some models send `end_turn` behind a call. */
export function readFinish(word: string, called: boolean): Finish {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other'
  return finishOf(called && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason, word)
}
