/** Measurements of targets, for strategies that choose by it. */
export interface Measures {
  /** Notes the milliseconds to the first token, or to the answer's head. */
  noteLatency(target: string, ms: number, now: number): void
  /** Milliseconds to be expected; null without recent measurements. */
  latency(target: string, now: number): number | null
  /** Index of the target that a choice took last; null when it took none. */
  chosen(choice: string): number | null
  noteChosen(choice: string, at: number): void
}

/** A newer measurement counts more: after this many milliseconds an older one counts half. */
const halfLifeMs = 10_000
/** After this many milliseconds a measurement expires, so that a target that was slow is tried again. */
const longestAgeMs = 60_000

interface Measurement {
  ms: number
  at: number
}

/** Makes the measures of a process, for at most so many targets. */
export function createMeasures(most: number): Measures {
  const latencies = new Map<string, Measurement>()
  const choices = new Map<string, number>()
  return {
    noteLatency(target, ms, now) {
      const known = latencies.get(target)
      if (known === undefined || now - known.at > longestAgeMs) {
        latencies.delete(target)
        keep(latencies, target, { value: { ms, at: now }, most })
        return
      }
      // At the same moment an older measurement still counts half, so that one outlier among many does not decide.
      const weight = Math.max(0.2, 1 - 0.5 ** ((now - known.at) / halfLifeMs))
      known.ms += (ms - known.ms) * weight
      known.at = now
    },
    latency(target, now) {
      const known = latencies.get(target)
      return known === undefined || now - known.at > longestAgeMs ? null : known.ms
    },
    chosen: (choice) => choices.get(choice) ?? null,
    noteChosen(choice, at) {
      keep(choices, choice, { value: at, most })
    },
  }
}

function keep<T>(map: Map<string, T>, key: string, { value, most }: { readonly value: T; readonly most: number }): void {
  if (!map.has(key))
    for (const oldest of map.keys()) {
      if (map.size < most) break
      map.delete(oldest)
    }
  map.set(key, value)
}

/** Another target must be better by this share before a choice moves, so that two equal ones do not take turns. */
const hysteresis = 0.2

/**
 * Returns the index of the lowest figure; an unknown one (null) is the lowest, so that every target gets measured. The current one stays
 * until another is clearly lower. `figures` holds Infinity for targets that are left out, and is not all of them.
 */
export function pickLowest(figures: readonly (number | null)[], current: number | null): number {
  const unknown = figures.indexOf(null)
  if (unknown !== -1) return unknown
  const known = figures.map((figure) => figure ?? Infinity)
  const lowest = Math.min(...known)
  const held = current === null ? Infinity : (known[current] ?? Infinity)
  return current !== null && held !== Infinity && lowest >= held * (1 - hysteresis) ? current : known.indexOf(lowest)
}
