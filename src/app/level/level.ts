import type { Config, FeatureFlag } from '../../config/config.ts'
import { isOn } from '../../config/effect.ts'
import { fixedLevel, lowest, type Level } from '../../release/level.ts'
import { compareVersions } from '../../release/version.ts'

/** The level of a process that runs: the lowest of this build's release, `RELEASE_LEVEL`, and the release that is finalized in the database. */
export interface LiveLevel extends Level {
  /** Null until the database is read. */
  readonly finalized: string | null
  /** Takes the release that the database states; true when it was new. */
  finalizedAt(release: string): boolean
}

/** Begins without the database's word. */
export function createLevel(config: Pick<Config, 'version' | 'releaseLevel' | 'flags'>): LiveLevel {
  const { version, releaseLevel } = config
  let finalized: string | null = null
  let release = lowest(version, releaseLevel)
  let off = flagsOff(config, release)
  return {
    get release() {
      return release
    },
    get off() {
      return off
    },
    get finalized() {
      return finalized
    },
    atLeast: (other) => compareVersions(release, other) >= 0,
    finalizedAt(told) {
      if (told === finalized) return false
      finalized = told
      release = lowest(version, releaseLevel, told)
      off = flagsOff(config, release)
      return true
    },
  }
}

/** The flags that turn something off at a level. */
const flagsOff = (config: Pick<Config, 'flags'>, release: string): ReadonlySet<string> =>
  new Set(Object.keys(config.flags).filter((name) => isFlag(name, config) && !isOn(name, config, fixedLevel(release))))

const isFlag = (name: string, { flags }: Pick<Config, 'flags'>): name is FeatureFlag => Object.hasOwn(flags, name)
