import { ignoredSettings, settingNotes, suspiciousNames } from '../../../config/index.ts'
import { levelRefusal } from '../../../app/start/boot-guard.ts'
import { readOwnTable } from '../../../app/level/release-records.ts'
import { levelOn } from '../../level-here.ts'
import { fail, ok, warn, type Check } from '../check.ts'

const levelAdvice =
  'Remove these settings. Where the level holds them back: raise RELEASE_LEVEL, or finish the upgrade with "gatehouse finalize".'

/** Checks that the process would start with this environment. */
export const settingsCheck: Check = {
  id: 'settings',
  about:
    'Every setting can be read, `RELEASE_LEVEL` names a release, no name in the environment looks like a misspelt one, and each setting that is given has an effect.',
  remedy: 'Correct the settings that are named; `gatehouse env` describes each.',
  quick: true,
  async run(stage) {
    const { env, configError } = stage
    if (configError !== null) {
      const faults = configError.problems.map(({ name, fault, example }) => `${name} ${fault} (example: ${name}=${example})`)
      return fail(faults.join('; '), 'Correct these settings; "gatehouse env" describes each.')
    }
    const config = stage.settings()
    const level = config.releaseLevel === null ? null : levelRefusal(config, readOwnTable())
    if (level !== null) return fail(level.problem, 'Set RELEASE_LEVEL to a release, or remove it.')
    const misspelt = suspiciousNames(env).map(({ name, meant }) => `${name} is not a setting: did you mean ${meant}?`)
    const ignored = ignoredSettings(env)
    if (misspelt.length > 0) return warn(misspelt.join('; '), 'Rename or remove the misspelt names.')
    if (ignored.length > 0)
      return warn(
        `without DB_HOST the embedded PostgreSQL is used, and ${ignored.join(', ')} has no effect`,
        'Set DB_HOST, or remove the others.',
      )
    const notes = settingNotes(config, await levelOn(stage)).map(({ note }) => note)
    if (notes.length > 0) return warn(notes.join('; '), levelAdvice)
    return ok('all settings can be used')
  },
}
