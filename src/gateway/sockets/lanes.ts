import type { HeldBytes } from './shared-bytes.ts'

/** A piece of work of a client, which names its lane. */
export interface LaneWork {
  /** Null: the lane of those that name none. */
  readonly lane: string | null
  readonly bytes: number
}

/** Work in lanes: within a lane one piece runs after the other, and lanes run beside each other. */
export interface Lanes<T extends LaneWork> {
  /** Returns why the work is refused; null: it runs, or waits. */
  add(work: T): 'too many lanes' | 'no room' | null
  /** Returns true while anything runs or waits. */
  busy(): boolean
  /** Returns true when so much waits that the client has to wait too. */
  full(): boolean
  clear(): void
}

/** The bounds of OpenAI's own connections. */
const mostRunning = 16
export const mostLanes = 32
const mostWaiting = 64
const mostWaitingBytes = 1024 * 1024

interface Lane<T> {
  readonly waiting: T[]
  runs: boolean
}

interface LaneMeans<T> {
  /** It must not reject. */
  readonly run: (work: T) => Promise<void>
  /** Called after each piece. */
  readonly done: () => void
  /** The room for work that waits. */
  readonly room: HeldBytes
}

export function createLanes<T extends LaneWork>({ run, done, room }: LaneMeans<T>): Lanes<T> {
  const lanes = new Map<string | null, Lane<T>>()
  let [running, waiting, waitingBytes] = [0, 0, 0]

  function next(): void {
    for (const [name, lane] of lanes) {
      if (running >= mostRunning) return
      if (lane.runs) continue
      const work = lane.waiting.shift()
      if (work === undefined) {
        lanes.delete(name)
        continue
      }
      waiting -= 1
      waitingBytes -= work.bytes
      room.give(work.bytes)
      void start(work, lane)
    }
  }

  async function start(work: T, lane: Lane<T>): Promise<void> {
    lane.runs = true
    running += 1
    await run(work)
    lane.runs = false
    running -= 1
    next()
    done()
  }

  return {
    add(work) {
      const lane = lanes.get(work.lane) ?? { waiting: [], runs: false }
      if (!lanes.has(work.lane) && lanes.size >= mostLanes) return 'too many lanes'
      const waits = lane.runs || running >= mostRunning
      if (waits && !room.take(work.bytes)) return 'no room'
      lanes.set(work.lane, lane)
      if (!waits) {
        void start(work, lane)
        return null
      }
      lane.waiting.push(work)
      waiting += 1
      waitingBytes += work.bytes
      return null
    },
    busy: () => running > 0 || waiting > 0,
    full: () => waiting >= mostWaiting || waitingBytes > mostWaitingBytes,
    clear() {
      room.give(waitingBytes)
      for (const lane of lanes.values()) lane.waiting.length = 0
      ;[waiting, waitingBytes] = [0, 0]
    },
  }
}
