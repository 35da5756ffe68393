import type { Config } from '../../config/config.ts'
import { lowest, type Level } from '../../release/level.ts'
import { compareVersions } from '../../release/version.ts'

/** The level of a process that runs: the lowest of this build's release, `RELEASE_LEVEL`, and what is finalized in the database. */
export interface LiveLevel extends Level {
  /** Null until the database has told. */
  readonly finalized: string | null
  /** Takes in what the database tells; true when it was new. */
  finalizedAt(release: string): boolean
}

/** Begins without the database's word. */
export function createLevel({ version, releaseLevel }: Pick<Config, 'version' | 'releaseLevel'>): LiveLevel {
  let finalized: string | null = null
  let release = lowest(version, releaseLevel)
  return {
    get release() {
      return release
    },
    get finalized() {
      return finalized
    },
    atLeast: (other) => compareVersions(release, other) >= 0,
    finalizedAt(told) {
      if (told === finalized) return false
      finalized = told
      release = lowest(version, releaseLevel, told)
      return true
    },
  }
}
