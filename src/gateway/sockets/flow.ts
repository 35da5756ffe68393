import type { OpenSocket, Taken } from '../egress/web-socket.ts'

/** The reading of one side of a connection. It stops while anything holds it. */
export interface Flow {
  readonly held: () => boolean
  /** Stops, or goes on, for the work as such. */
  hold(holds: boolean): void
  /** Returns the steps of one call, which lets go only of its own hold. */
  steps(): FlowSteps
  /** Stops until the other side has taken a message; null: it has room. */
  until(taken: Taken): void
}

export interface FlowSteps {
  readonly pause: () => void
  readonly resume: () => void
  /** Goes on for good: to stop has no effect any longer. */
  readonly letGo: () => void
}

export function flowOf(socket: Pick<OpenSocket, 'pause' | 'resume'>): Flow {
  let holds = 0
  function count(change: 1 | -1): void {
    holds += change
    if (holds === 0) socket.resume()
    else if (holds === 1 && change === 1) socket.pause()
  }
  function createHold(): (holds: boolean) => void {
    let isHeld = false
    return (next) => {
      if (next === isHeld) return
      isHeld = next
      count(next ? 1 : -1)
    }
  }
  return {
    held: () => holds > 0,
    hold: createHold(),
    steps() {
      const hold = createHold()
      let isLetGo = false
      return {
        pause: () => hold(!isLetGo),
        resume: () => hold(false),
        letGo() {
          isLetGo = true
          hold(false)
        },
      }
    },
    until(taken) {
      if (taken === null) return
      count(1)
      void taken.finally(() => count(-1))
    },
  }
}
