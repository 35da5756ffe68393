import cluster from 'node:cluster'
import { runPrimary, runWorker } from './app/cluster.ts'
import { limitHeap } from './app/heap.ts'
import { createLoggers } from './app/log.ts'
import { run, type StartNotes } from './app/run.ts'
import { reportWrongSettings } from './app/start-failure.ts'
import type { StartMode } from './app/start-mode.ts'
import { ConfigError, effectiveSettings, environment, loadConfig, suspiciousNames, type Config } from './config/index.ts'
import { version } from './config/version.ts'
import { features } from './features/index.ts'

/** Serves until told to end, in one process or in a primary with workers, and gives the exit code. */
export async function serve(mode: StartMode): Promise<number> {
  limitHeap()
  const start = readSettings(mode)
  if (start === null) return 78
  const { config, notes } = start
  if (cluster.isWorker) return runWorker(config, features)
  return config.workers > 1 ? runPrimary(config, features, notes) : run(config, features, notes)
}

/** Wrong settings are all named at once; the exit code 78 (EX_CONFIG) means just this. */
function readSettings(mode: StartMode): { readonly config: Config; readonly notes: StartNotes } | null {
  const env = environment()
  try {
    return { config: loadConfig(env), notes: { settings: effectiveSettings(env), suspicious: suspiciousNames(env), mode } }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // A misspelt name is often why another is missing.
    for (const { name, meant } of suspiciousNames(env)) process.stderr.write(`warning: ${name} is not a setting; did you mean ${meant}?\n`)
    reportWrongSettings(createLoggers({ logLevel: 'info', version: version() }).application, error)
    return null
  }
}
