import cluster from 'node:cluster'
import path from 'node:path'
import { runPrimary, runWorker } from './app/cluster/cluster.ts'
import { limitHeap } from './app/cluster/heap.ts'
import { createLoggers, type Loggers } from './app/logging/log.ts'
import { run, type StartNotes } from './app/cluster/run.ts'
import { reportWrongSettings } from './app/start/start-failure.ts'
import type { Demo, StartMode } from './app/start/start-mode.ts'
import { ConfigError, effectiveSettings, environment, loadConfig, suspiciousNames, type Config } from './config/index.ts'
import { version } from './config/version.ts'
import { features } from './features/index.ts'

/** Opens the demo provider. Returns the settings under which it can be reached. */
type OpenDemo = (config: Config) => Promise<{ readonly config: Config; readonly demo: Demo }>

/** Serves until it is stopped, in one process or in a primary with workers, and returns the exit code. `openDemo`: one process, with a demo provider. */
export async function serve(mode: StartMode, openDemo?: OpenDemo): Promise<number> {
  limitHeap()
  const start = readSettings(mode)
  if (start === null) return 78
  const { config, loggers, notes } = start
  if (openDemo !== undefined) {
    const { config: reaching, demo } = await openDemo({ ...config, workers: 1 })
    return run(reaching, features, { loggers, notes: { ...notes, mode: { ...mode, demo } } })
  }
  if (cluster.isWorker) return runWorker(config, features, loggers)
  return config.workers > 1 ? runPrimary(config, features, { loggers, notes }) : run(config, features, { loggers, notes })
}

interface Start {
  readonly config: Config
  readonly loggers: Loggers
  readonly notes: StartNotes
}

/** Wrong settings are all named at once; the exit code 78 (EX_CONFIG) means just this. */
function readSettings(mode: StartMode): Start | null {
  const env = environment()
  try {
    const config = withLogFile(loadConfig(env), mode)
    return {
      config,
      loggers: createLoggers(config),
      notes: { settings: effectiveSettings(env), suspicious: suspiciousNames(env), mode },
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // A misspelt name is often why another is missing.
    for (const { name, meant } of suspiciousNames(env)) process.stderr.write(`warning: ${name} is not a setting; did you mean ${meant}?\n`)
    reportWrongSettings(createLoggers({ logLevel: 'info', logFile: null, version: version() }).application, error)
    return null
  }
}

/** At a terminal the first keys must not drown in JSON, so that the log goes to a file there. */
const withLogFile = (config: Config, { deployed }: StartMode): Config =>
  deployed || config.logFile !== null || !process.stdout.isTTY ? config : { ...config, logFile: path.join(config.dataDir, 'gatehouse.log') }
