import type { Fields } from '../../../lib/json/fields.ts'
import type { Finish, FinishReason } from '../neutral/finish.ts'
import { saidFields, saidText } from '../reading.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  tool_use: 'tool-calls',
  pause_turn: 'pause',
  refusal: 'content-filter',
}

/** Reads a finish, from a message or from the delta of one; null when it has none. */
export function readFinish(from: Fields): Finish | null {
  const raw = saidText(from, 'stop_reason')
  if (raw === null) return null
  return {
    reason: Object.hasOwn(reasons, raw) ? (reasons[raw] ?? 'other') : 'other',
    raw,
    stopSequence: saidText(from, 'stop_sequence'),
    explanation: saidText(saidFields(from, 'stop_details') ?? from, 'explanation'),
  }
}

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  error: 'end_turn',
  other: 'end_turn',
}

/** Returns the finish of an answer in which the model may have refused: other formats show that by the content alone. */
export const withRefusal = (finish: Finish, isRefusal: boolean): Finish =>
  isRefusal && finish.reason === 'stop' ? { ...finish, reason: 'content-filter' } : finish

/** Writes a finish. Where the provider does not state at which sequence it stopped, it is the one that was asked for; with several it is unknown. */
export function writeFinish({ reason, stopSequence }: Finish, asked: readonly string[]) {
  const [only = null] = asked.length === 1 ? asked : []
  const sequence = reason === 'stop-sequence' ? (stopSequence ?? only) : null
  return { stop_reason: reason === 'stop-sequence' && sequence === null ? 'end_turn' : words[reason], stop_sequence: sequence }
}
