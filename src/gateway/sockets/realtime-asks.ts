import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parseJson } from '../../lib/json/json.ts'
import { askedOfTurn, type RealtimeMemory } from './realtime-memory.ts'
import type { RealtimeTurns } from './realtime-turns.ts'

interface Asking {
  readonly turns: RealtimeTurns
  readonly memory: RealtimeMemory
  /** True: items of the conversation wait for the verdict of guardrails on their turn. */
  readonly isGuarded: boolean
  readonly toProvider: (text: string) => void
  /** Throws when no turn may begin. */
  readonly demandRoom: () => void
}

/** Returns what reads the messages of a client; it throws `invalid_request`. */
export function readAsks({ turns, memory, isGuarded, toProvider, demandRoom }: Asking): (data: Buffer) => void {
  let held: string[] = []
  return (data) => {
    const event = readEvent(data)
    const text = data.toString()
    memory.asked(event)
    if (event['type'] === 'response.create') {
      demandRoom()
      const sent = [...held, text]
      held = []
      turns.begin(askedOfTurn(memory, event), () => sent.forEach(toProvider))
    } else if (isGuarded && event['type'] === 'conversation.item.create') held.push(text)
    else toProvider(text)
  }
}

function readEvent(data: Buffer): Fields {
  const event = parseJson(data)
  if (isFields(event) && typeof event['type'] === 'string') return event
  throw new ApiError('invalid_request', 'A message must be a JSON object with a type.', { param: 'type' })
}
