import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { askedOfTurn, type RealtimeMemory } from './realtime-memory.ts'
import type { RealtimeTurn } from './realtime-turn.ts'
import type { RealtimeTurns } from './realtime-turns.ts'

interface Listening {
  readonly turns: RealtimeTurns
  readonly memory: RealtimeMemory
  readonly toClient: (text: string) => void
}

/** Routes an event of the provider's: to its turn, to the turn that runs so that the order stays, or to the client. */
export function hearProvider(text: string, { turns, memory, toClient }: Listening): void {
  const event = jsonOrUndefined(text)
  if (isFields(event)) memory.heard(event)
  const found = isFields(event) ? (ownTurn(event, { turns, memory }) ?? laterTurn(event, turns)) : null
  if (found === null) toClient(text)
  else found.turn.take(text)
  if (found?.ends === true) found.turn.end()
}

/** The turn that an event belongs to. */
interface FoundTurn {
  readonly turn: RealtimeTurn
  /** True: the event is its last. */
  readonly ends: boolean
}

const isNew = ({ id }: RealtimeTurn): boolean => id === null

/** Returns the turn that an event begins, or refuses; null: it does neither. A provider that hears speech begins turns by itself. */
function ownTurn(event: Fields, { turns, memory }: Pick<Listening, 'turns' | 'memory'>): FoundTurn | null {
  if (memory.isTranscript(event)) return { turn: turns.begin({ model: memory.transcriber() }), ends: true }
  const asked = turns.find(isNew)
  if (event['type'] === 'error') return asked === undefined ? null : { turn: asked, ends: true }
  if (event['type'] !== 'response.created') return null
  const turn = asked ?? turns.begin(askedOfTurn(memory, {}))
  turn.id = idOf(event)
  return { turn, ends: false }
}

function laterTurn(event: Fields, turns: RealtimeTurns): FoundTurn | null {
  const id = idOf(event)
  const turn = turns.find((one) => one.id !== null && one.id === id) ?? turns.find(() => true)
  return turn === undefined ? null : { turn, ends: event['type'] === 'response.done' && turn.id === id }
}

function idOf({ response, response_id: named }: Fields): string | null {
  const id = isFields(response) ? response['id'] : named
  return typeof id === 'string' ? id : null
}
