import cluster from 'node:cluster'
import { runPrimary, runWorker } from './app/cluster.ts'
import { run, type StartNotes } from './app/run.ts'
import { ConfigError, effectiveSettings, environment, loadConfig, suspiciousNames, type Config } from './config/index.ts'
import { features } from './features/index.ts'

const { config, notes } = readSettings()
process.exitCode = await start(config, notes)
process.exit()

/** One process, or a primary with workers. */
function start(settings: Config, facts: StartNotes): Promise<number> {
  if (cluster.isWorker) return runWorker(settings, features)
  return settings.workers > 1 ? runPrimary(settings, features, facts) : run(settings, features, facts)
}

/** Wrong settings end the process at once, all of them named, with the exit code that means just this (EX_CONFIG). */
function readSettings(): { readonly config: Config; readonly notes: StartNotes } {
  const env = environment()
  try {
    return { config: loadConfig(env), notes: { settings: effectiveSettings(env), suspicious: suspiciousNames(env) } }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(78)
  }
}
