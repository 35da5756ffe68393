import { setTimeout as sleep } from 'node:timers/promises'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { compareVersions } from '../../release/version.ts'
import type { LiveLevel } from './level.ts'

const everyMs = 2000

export interface FollowOptions {
  readonly config: Pick<Config, 'version'>
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Follows the releases that `gatehouse finalize` writes while the process runs, so that no restart is needed. Resolves after the signal; never
 * rejects.
 */
export async function followLevel(orm: MikroORM, level: LiveLevel, { config, log, signal }: FollowOptions): Promise<void> {
  let outdated = false
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const state = await readState(orm)
    if (state === null) continue
    if (level.finalizedAt(state.level)) log.info({ level: level.release, finalized: state.level }, 'the level has changed')
    if (outdated || compareVersions(config.version, state.min_app_version) >= 0) continue
    outdated = true
    log.error(
      { accepted: state.min_app_version },
      'the database has been finalized for a later release: this process should not be running',
    )
  }
}

interface Row {
  readonly level: string
  readonly min_app_version: string
}

/** Returns the finalized state; null if the database does not answer now. */
export async function readState(orm: MikroORM): Promise<Row | null> {
  try {
    const rows = await orm.em.fork().execute<Row[]>('SELECT level, min_app_version FROM release_state')
    return rows[0] ?? null
  } catch {
    return null
  }
}
