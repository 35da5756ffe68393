import type { Socket } from 'node:net'
import Client from 'undici/lib/dispatcher/client.js'
import type { Connect } from './connect.ts'

/** One connection, or the place for one; carries at most one exchange at a time. */
export interface Slot {
  readonly client: Client
  /** The socket while it is being connected. */
  connecting: Socket | null
  /** The connection, once it is there. */
  socket: Socket | null
  /** True once it has carried a whole exchange: a server may close it at the moment at which the next one begins. */
  isUsed: boolean
  /** Its place among the idle slots, -1 while in use. */
  idleAt: number
}

export const maxResponseHeaderBytes = 64 * 1024

const clientOptions = {
  pipelining: 1,
  allowH2: false,
  maxHeaderSize: maxResponseHeaderBytes,
  // Timeouts are ours (exchange.ts): undici's own are up to half a second late.
  headersTimeout: 0,
  bodyTimeout: 0,
  // Servers that do not state how long they keep an idle connection keep it 5 s at least (uvicorn, Node).
  keepAliveTimeout: 4000,
  keepAliveMaxTimeout: 120_000,
  keepAliveTimeoutThreshold: 1000,
}

/** Makes a slot for the origin; the connection is made by its first exchange. */
export function openSlot({ origin, connect }: { origin: string; connect: Connect }, onDisconnect: () => void): Slot {
  const slot: Slot = {
    client: new Client(origin, { ...clientOptions, connect: connectFor }),
    connecting: null,
    socket: null,
    isUsed: false,
    idleAt: -1,
  }
  function connectFor(_: unknown, callback: Parameters<Connect>[0]) {
    slot.connecting = connect((...result) => {
      slot.connecting = null
      slot.socket = result[1]
      callback(...result)
    })
  }
  slot.client.on('disconnect', onDisconnect)
  return slot
}

/** A stack, so that the connection used last is used next and the others may time out; one leaves it anywhere in constant time. */
export function createIdleSlots() {
  const idle: Slot[] = []
  return {
    get size() {
      return idle.length
    },
    add(slot: Slot): void {
      slot.idleAt = idle.push(slot) - 1
    },
    take(): Slot | undefined {
      const slot = idle.pop()
      if (slot !== undefined) slot.idleAt = -1
      return slot
    },
    remove(slot: Slot): void {
      if (slot.idleAt === -1) return
      const last = idle.pop()
      if (last !== undefined && last !== slot) {
        idle[slot.idleAt] = last
        last.idleAt = slot.idleAt
      }
      slot.idleAt = -1
    },
  }
}
