import { toApiError } from '../../lib/errors.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import type { Taken } from '../egress/web-socket.ts'

/** Messages of one connection that are read one after the other. */
export interface MessageOrder {
  add(data: Buffer): void
  /** Returns true while a message waits to be read. */
  waits(): boolean
  /** Drops those that wait, and all that come. */
  clear(): void
}

interface OrderOptions {
  readonly organisationId: string
  /** Returns its reply, behind which the next message waits. */
  readonly read: (data: Buffer) => Taken
  /** Called with the fault of a message that is not read. Returns the reply. */
  readonly refuse: (thrown: unknown) => Taken
  /** Called when too many messages in a row were malformed: the others are dropped. */
  readonly tooMany?: () => void
  /** Called when all have been read. */
  readonly done: () => void
}

/** A client that sends so many malformed messages in a row has lost its way. */
export const mostMalformed = 100

/**
 * Returns an order in which a long message waits for its turn at the event loop, and others wait behind it. A message waits also until its sender has
 * taken the reply to the one before: unread replies would pile up.
 */
export function readInOrder({ organisationId, read, refuse, tooMany, done }: OrderOptions): MessageOrder {
  const unread: Buffer[] = []
  let [isReading, isCleared, malformed] = [false, false, 0]

  function clear(): void {
    isCleared = true
    unread.length = 0
  }

  function fault(thrown: unknown): Taken {
    malformed = toApiError(thrown).code === 'invalid_request' ? malformed + 1 : 0
    const taken = refuse(thrown)
    if (malformed >= mostMalformed && tooMany !== undefined) {
      clear()
      tooMany()
    }
    return taken
  }

  function readOne(data: Buffer): Taken {
    if (isCleared) return null
    const taken = read(data)
    malformed = 0
    return taken
  }

  async function readAll(): Promise<void> {
    isReading = true
    for (let data = unread[0]; data !== undefined; data = unread[0]) {
      const turn = longTurns.before(organisationId, data.length, { isWanted: () => !isCleared })
      let taken: Taken = null
      try {
        if (turn !== null) await turn
        taken = readOne(data)
      } catch (thrown) {
        taken = fault(thrown)
      }
      if (taken !== null) await taken
      unread.shift()
    }
    isReading = false
    done()
  }

  return {
    add(data) {
      if (isCleared) return
      unread.push(data)
      if (!isReading) void readAll()
    },
    waits: () => isReading,
    clear,
  }
}
