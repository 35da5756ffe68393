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

/** A session has one conversation, and rarely a second turn beside it. */
const mostTurns = 16
/** Items with so many letters wait for their turn. */
const mostHeld = 8 * 1024 * 1024

const tooManyTurns = (): ApiError =>
  new ApiError('rate_limited', `${mostTurns} responses of this session have not ended. Wait for one of them.`, { param: 'type' })
const tooManyItems = (): ApiError =>
  new ApiError('payload_too_large', 'The items that wait for their turn are too large together. Send response.create first.', {
    param: 'item',
  })

/** Returns what reads the messages of a client; it throws `invalid_request`. */
export function readAsks({ turns, memory, isGuarded, toProvider, demandRoom }: Asking): (data: Buffer) => void {
  let [held, heldLetters]: [string[], number] = [[], 0]
  return (data) => {
    const event = readEvent(data)
    const text = data.toString()
    memory.asked(event)
    if (event['type'] === 'response.create') {
      demandRoom()
      if (turns.count() >= mostTurns) throw tooManyTurns()
      const sent = [...held, text]
      ;[held, heldLetters] = [[], 0]
      turns.begin(askedOfTurn(memory, event), () => sent.forEach(toProvider))
    } else if (isGuarded && event['type'] === 'conversation.item.create') {
      heldLetters += text.length
      if (heldLetters > mostHeld) throw tooManyItems()
      held.push(text)
    } else toProvider(text)
  }
}

function readEvent(data: Buffer): Fields {
  const event = parseJson(data)
  if (isFields(event) && typeof event['type'] === 'string') return event
  throw new ApiError('invalid_request', 'A message must be a JSON object with a type.', { param: 'type' })
}
