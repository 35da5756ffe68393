import type { OpenSocket } from '../egress/web-socket.ts'

/** The reading of one side of a connection. It stops while anything holds it. */
export interface Flow {
  readonly held: () => boolean
  /** Stops, or goes on, for the work as such. */
  hold(holds: boolean): void
  /** The same, as the two steps of a call. */
  readonly steps: { readonly pause: () => void; readonly resume: () => void }
  /** Stops until the other side has taken a message; null: it has room. */
  until(taken: Promise<void> | null): void
}

export function flowOf(socket: Pick<OpenSocket, 'pause' | 'resume'>): Flow {
  let isHeld = false
  let untaken = 0
  let isPaused = false
  const apply = (): void => {
    const pauses = isHeld || untaken > 0
    if (pauses === isPaused) return
    isPaused = pauses
    if (pauses) socket.pause()
    else socket.resume()
  }
  const hold = (holds: boolean): void => {
    isHeld = holds
    apply()
  }
  return {
    held: () => isPaused,
    hold,
    steps: { pause: () => hold(true), resume: () => hold(false) },
    until(taken) {
      if (taken === null) return
      untaken += 1
      apply()
      void taken.finally(() => {
        untaken -= 1
        apply()
      })
    },
  }
}
