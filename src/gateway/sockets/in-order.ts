import { longTurns } from '../../lib/shares/long-turns.ts'

/** Messages of one connection that are read one after the other. */
export interface MessageOrder {
  add(data: Buffer): void
  /** Returns true while a message waits to be read. */
  waits(): boolean
  clear(): void
}

interface OrderOptions {
  readonly organisationId: string
  readonly read: (data: Buffer) => void
  /** Called with the fault of a message that is not read. */
  readonly refuse: (thrown: unknown) => void
  /** Called when all have been read. */
  readonly done: () => void
}

/** Returns an order in which a long message waits for its turn at the event loop, and others wait behind it. */
export function readInOrder({ organisationId, read, refuse, done }: OrderOptions): MessageOrder {
  const unread: Buffer[] = []
  let isReading = false
  let isCleared = false

  async function readAll(): Promise<void> {
    isReading = true
    for (let data = unread[0]; data !== undefined; data = unread[0]) {
      const turn = longTurns.before(organisationId, data.length, { isWanted: () => !isCleared })
      try {
        if (turn !== null) await turn
        if (!isCleared) read(data)
      } catch (thrown) {
        refuse(thrown)
      }
      unread.shift()
    }
    isReading = false
    done()
  }

  return {
    add(data) {
      unread.push(data)
      if (!isReading) void readAll()
    },
    waits: () => isReading,
    clear() {
      isCleared = true
      unread.length = 0
    },
  }
}
