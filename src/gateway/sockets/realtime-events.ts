import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { hasTooManyValues, mostValues } from '../../lib/json/many-values.ts'
import { askedOfTranscript, askedOfTurn } from './realtime-body.ts'
import type { RealtimeMemory } from './realtime-memory.ts'
import type { RealtimeTurn } from './realtime-turn.ts'
import type { RealtimeTurns } from './realtime-turns.ts'
import { responseOf } from './response-of.ts'
import { withoutAnswers } from './unjudged-event.ts'

interface Listening {
  readonly turns: RealtimeTurns
  readonly memory: RealtimeMemory
  readonly toClient: (text: string) => void
  /** True: guardrails judge answers, so that words of a model go on within turns only. */
  readonly judgesAnswers: boolean
}

/** Routes an event of the provider's: to its turn, to the turn that runs so that the order stays, or to the client. Throws for one that is no event to read, and when it begins too many turns. */
export function hearProvider(text: string, listening: Listening): void {
  const { turns, memory } = listening
  if (hasTooManyValues(text)) throw tooManyValues()
  const event = jsonOrUndefined(text)
  if (isFields(event)) memory.heard(event)
  const found = isFields(event) ? (ownTurn(event, listening) ?? laterTurn(event, turns)) : null
  if (found === null) return pass(event, text, listening)
  found.turn.take(text)
  if (!found.ends) return
  if (isFields(event) && isFields(event['response'])) memory.size.end(found.turn.asked.place, event['response']['usage'])
  turns.end(found.turn)
}

const tooManyValues = (): ApiError =>
  new ApiError('upstream_bad_response', `The provider sent a message with more than ${mostValues} values, the most that one may have.`)

function pass(event: unknown, text: string, { toClient, judgesAnswers }: Listening): void {
  const shown = !judgesAnswers ? text : isFields(event) ? withoutAnswers(event, text) : null
  if (shown !== null) toClient(shown)
}

/** The turn that an event belongs to. */
interface FoundTurn {
  readonly turn: RealtimeTurn
  /** True: the event is its last. */
  readonly ends: boolean
}

/** Returns the turn that an event begins, or refuses; null: it does neither. A provider that hears speech begins turns by itself. */
function ownTurn(event: Fields, { turns, memory, judgesAnswers }: Listening): FoundTurn | null {
  if (isTranscript(event) && (judgesAnswers || isFields(event['usage'])))
    return { turn: turns.begin(askedOfTranscript(memory), null), ends: true }
  const asked = turns.asked()
  if (event['type'] === 'error') return asked === undefined ? null : { turn: asked, ends: true }
  if (event['type'] !== 'response.created') return null
  const turn = asked ?? turns.begin(askedOfTurn(memory, {}, turns.answers()), null)
  const id = responseOf(event)
  if (id !== null) turns.name(turn, id)
  return { turn, ends: false }
}

/** Returns true for the transcript of what was said, which states its own usage. */
const isTranscript = ({ type }: Fields): boolean => type === 'conversation.item.input_audio_transcription.completed'

/** An event of a response whose turn has ended goes behind no other: that would take it for its own. */
function laterTurn(event: Fields, turns: RealtimeTurns): FoundTurn | null {
  const id = responseOf(event)
  const turn = id === null ? turns.first() : turns.named(id)
  return turn === undefined ? null : { turn, ends: event['type'] === 'response.done' && id !== null }
}
