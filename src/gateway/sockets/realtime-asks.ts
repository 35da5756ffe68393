import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import { valueOfMessage } from './client-message.ts'
import { askedOfTurn } from './realtime-body.ts'
import type { HeldBytes } from './shared-bytes.ts'
import { isUpdate, type RealtimeMemory, transcriptionOf, waitsForTurn } from './realtime-memory.ts'
import type { RealtimeTurns } from './realtime-turns.ts'

interface Asking {
  readonly turns: RealtimeTurns
  readonly memory: RealtimeMemory
  readonly toProvider: (text: string) => void
  /** The room for items that wait for their turn. */
  readonly room: HeldBytes
  /** Throws when no turn may begin. */
  readonly demandRoom: () => void
  /** Throws `forbidden` for a model that the provider may not be asked for. */
  readonly demandModel: (name: string) => void
}

/** A session has one conversation, and rarely a second turn beside it. */
const mostTurns = 16
/** Items with so many letters wait for their turn. */
const mostHeld = 8 * 1024 * 1024

const tooManyTurns = (): ApiError =>
  new ApiError('rate_limited', `${mostTurns} responses of this session have not ended. Wait for one of them.`, { param: 'type' })
const tooManyItems = (): ApiError =>
  new ApiError('payload_too_large', 'The items that wait for their turn are too large together. Send response.create.', {
    param: 'item',
  })

interface AskReader {
  /** Reads a message of the client, which has no reply here. Throws `invalid_request`. */
  read(data: Buffer): null
  /** Drops the items that wait. */
  clear(): void
}

/** Returns the reader of the messages of a client. */
export function readAsks({ turns, memory, toProvider, room, demandRoom, demandModel }: Asking): AskReader {
  let [held, heldLetters]: [string[], number] = [[], 0]

  function hold(text: string): void {
    if (heldLetters + text.length > mostHeld || !room.take(text.length)) throw tooManyItems()
    heldLetters += text.length
    held.push(text)
  }

  function release(): readonly string[] {
    const released = held
    room.give(heldLetters)
    ;[held, heldLetters] = [[], 0]
    return released
  }

  function read(data: Buffer): null {
    const text = data.toString()
    const event = readEvent(data, text)
    if (isUpdate(event['type'])) for (const name of modelsIn(event['session'])) demandModel(name)
    if (event['type'] === 'response.create') {
      demandRoom()
      if (turns.count() >= mostTurns) throw tooManyTurns()
      const sent = [...release(), text]
      turns.begin(askedOfTurn(memory, event, turns.answers()), () => sent.forEach(toProvider))
    } else {
      const waits = memory.isGuarded && waitsForTurn(event)
      if (waits) hold(text)
      memory.asked(event)
      if (!waits) toProvider(text)
    }
    return null
  }

  return { read, clear: () => void release() }
}

/** A provider may read another one of two values than is judged here. */
function readEvent(data: Buffer, text: string): Fields {
  const event = valueOfMessage(data)
  if (!isFields(event) || typeof event['type'] !== 'string')
    throw new ApiError('invalid_request', 'A message must be a JSON object with a type.', { param: 'type' })
  const repeated = repeatedKey(text, event)?.slice(0, 100) ?? null
  if (repeated === null) return event
  throw new ApiError('invalid_request', `An object of the message has the key ${JSON.stringify(repeated)} twice.`, { param: repeated })
}

/** Returns the models that settings name. */
const modelsIn = (session: unknown): readonly string[] =>
  isFields(session) ? [session['model'], transcriptionOf(session)['model']].filter((name) => typeof name === 'string') : []
