/** A piece of work of a client, which names its lane. */
export interface LaneWork {
  /** Null: the lane of those that name none. */
  readonly lane: string | null
  readonly bytes: number
}

/** Work in lanes: within a lane one piece runs after the other, and lanes run beside each other. */
export interface Lanes<T extends LaneWork> {
  /** Returns false when there are too many lanes for another one. */
  add(work: T): boolean
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

/** `run` must not reject; `done` is called after each piece. */
export function createLanes<T extends LaneWork>(run: (work: T) => Promise<void>, done: () => void): Lanes<T> {
  const lanes = new Map<string | null, Lane<T>>()
  let [running, waiting, waitingBytes] = [0, 0, 0]

  function next(): void {
    for (const [name, lane] of lanes) {
      if (running >= mostRunning) return
      if (lane.runs) continue
      const work = lane.waiting.shift()
      if (work === undefined) lanes.delete(name)
      else void start(work, lane)
    }
  }

  async function start(work: T, lane: Lane<T>): Promise<void> {
    lane.runs = true
    running += 1
    waiting -= 1
    waitingBytes -= work.bytes
    await run(work)
    lane.runs = false
    running -= 1
    next()
    done()
  }

  return {
    add(work) {
      const lane = lanes.get(work.lane) ?? { waiting: [], runs: false }
      if (!lanes.has(work.lane) && lanes.size >= mostLanes) return false
      lanes.set(work.lane, lane)
      lane.waiting.push(work)
      waiting += 1
      waitingBytes += work.bytes
      next()
      return true
    },
    busy: () => running > 0 || waiting > 0,
    full: () => waiting >= mostWaiting || waitingBytes > mostWaitingBytes,
    clear() {
      for (const lane of lanes.values()) lane.waiting.length = 0
      ;[waiting, waitingBytes] = [0, 0]
    },
  }
}
