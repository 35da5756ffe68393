import { compareVersions } from './version.ts'

/** The release whose behaviour a process shows: later additions are there, and off. */
export interface Level {
  /** For example `1.11.2`. It rises while the process runs, when an upgrade is finalized. */
  readonly release: string
  /** Returns true if the additions and changes of a release are on. The one place in the code where a release is named beside `since` and `changes`. */
  atLeast(release: string): boolean
  /** The flags that are OFF at this level; absent: none. */
  readonly off?: ReadonlySet<string>
}

/** A level that stays. */
export const fixedLevel = (release: string): Level => ({ release, atLeast: (other) => compareVersions(release, other) >= 0 })

/** The lowest of these releases; null sets no bound. */
export const lowest = (release: string, ...bounds: readonly (string | null)[]): string =>
  bounds.reduce<string>((least, bound) => (bound !== null && compareVersions(bound, least) < 0 ? bound : least), release)
