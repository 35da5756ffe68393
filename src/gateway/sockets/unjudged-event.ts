import { type Fields, isFields } from '../../lib/json/fields.ts'
import { responseOf } from './response-of.ts'

/** Pieces of transcripts, which come whole as a turn. */
const piece = /^conversation\.item\.input_audio_transcription\.(?:delta|segment)$/
/** Those of a conversation whose words are the client's, and that it has sent or said. */
const ofClient: ReadonlySet<unknown> = new Set(['user', 'system'])

/**
 * Returns an event that belongs to no turn as a client may have it where guardrails judge answers: items of the model come without their contents, and
 * a response that was denied stays away. Null: the event does not go on.
 */
export function withoutAnswers(event: Fields, text: string): string | null {
  const { type, item } = event
  if (responseOf(event) !== null || (typeof type === 'string' && (type.startsWith('response.') || piece.test(type)))) return null
  if (!isFields(item) || ofClient.has(item['role'])) return text
  const { id, object, type: kind, status, role } = item
  return JSON.stringify({ ...event, item: { id, object, type: kind, status, role, content: [] } })
}
