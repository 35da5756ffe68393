import { setImmediate as turn } from 'node:timers/promises'

let last = Promise.resolve()

/** Resolves in a turn of the event loop in which no other caller's does, so that of long work one piece is done at a time. */
export function ownTurn(): Promise<void> {
  last = last.then(() => turn())
  return last
}
