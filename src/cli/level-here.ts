import { pino } from 'pino'
import { reach } from '../app/database/connect.ts'
import { readReleaseState } from '../app/database/schema/release-state.ts'
import { createLevel } from '../app/level/level.ts'
import type { Config } from '../config/index.ts'
import type { Level } from '../release/level.ts'
import type { Stage } from './preflight/stage.ts'

/** No longer than this a command waits for a database that it can do without. */
const patienceMs = 2000

/** Returns the level that a process with these settings would have, by the database too when it answers; none is started for it. */
export async function levelHere(config: Config): Promise<Level> {
  if (config.database.embedded) return createLevel(config)
  const patience = { connectionTimeoutMillis: patienceMs, query_timeout: patienceMs }
  const reached = await reach(config.database, pino({ enabled: false }), patience).catch(() => null)
  if (reached === null) return createLevel(config)
  try {
    return told(config, await readReleaseState(reached.client).catch(() => null))
  } finally {
    await reached.client.end()
  }
}

/** Returns the level that a process on this stage would have, by the database too when it can be reached. */
export async function levelOn(stage: Stage): Promise<Level> {
  const reached = await stage.database().catch(() => null)
  return told(stage.settings(), reached === null ? null : await readReleaseState(reached.client).catch(() => null))
}

function told(config: Config, state: { readonly level: string } | null): Level {
  const level = createLevel(config)
  if (state !== null) level.finalizedAt(state.level)
  return level
}
