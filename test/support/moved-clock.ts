import { eventually } from './eventually.ts'

/** A clock that is moved on where a test would wait for the end of a value. */
export interface MovedClock {
  /** Epoch milliseconds, for `overrides` of an app. */
  readonly clock: { readonly now: () => number }
  readonly later: (ms: number) => void
  /** Resolves when the condition holds, while time flies; rejects after ten seconds. */
  readonly inTime: (condition: () => Promise<boolean>, what: string) => Promise<number>
}

const withinMs = 10_000
/** `flightMs` of time pass at each look of `inTime`. */
export function movedClock(flightMs = 200): MovedClock {
  let ahead = 0
  const later = (ms: number): void => void (ahead += ms)
  return {
    clock: { now: () => Date.now() + ahead },
    later,
    inTime: (condition, what) =>
      eventually(
        () => {
          later(flightMs)
          return condition()
        },
        withinMs,
        what,
      ),
  }
}
