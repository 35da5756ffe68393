import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { announcement } from '../start/announce.ts'
import { buildConsole } from '../start/build-console.ts'
import { createApp, type App } from '../start/app.ts'
import type { Feature } from '../feature.ts'
import { collectStartGarbage } from './heap.ts'
import type { Loggers } from '../logging/log.ts'
import { onSignals } from './signals.ts'
import { describeStartFailure, reportStartFailure } from '../start/start-failure.ts'
import type { StartMode } from '../start/start-mode.ts'

/** How a process starts, and the notes about its settings that are logged once. */
export interface StartNotes {
  /** Masked. */
  readonly settings: Readonly<Record<string, string>>
  readonly suspicious: readonly { readonly name: string; readonly meant: string }[]
  readonly mode: StartMode
}

/** The values that exist before any process starts. */
export interface StartPreparation {
  readonly loggers: Loggers
  readonly notes: StartNotes
}

/** Runs one process until it is stopped, and returns its exit code. */
export async function run(config: Config, features: readonly Feature[], { loggers, notes }: StartPreparation): Promise<number> {
  logSettings(loggers, notes)
  const app = await createApp(config, features, { loggers, mode: notes.mode })
  const stopping = new AbortController()
  const ended = onSignals(loggers.application, (options) => {
    stopping.abort()
    return app.drain(options)
  })
  return Promise.race([ended, serve(app, config, { log: loggers.application, stopping: stopping.signal, mode: notes.mode })])
}

interface ServeOptions extends Pick<StartNotes, 'mode'> {
  readonly log: Logger
  readonly stopping: AbortSignal
}

/** Listens and starts; resolves only when that fails. */
async function serve(app: App, config: Config, { log, stopping, mode }: ServeOptions): Promise<number> {
  try {
    const { port } = await app.listen()
    log.info({ host: config.host, port }, 'listening')
    const { provisioned, deps } = await app.started
    collectStartGarbage()
    log.info({ roles: [...config.roles] }, 'ready')
    const sealed = deps.vault.sealed !== null
    const hasDemo = mode.demo !== undefined && !sealed
    if (hasDemo) await mode.demo.provide(deps)
    process.stdout.write(announcement(config, port, { provisioned, sealed, hasDemo }))
    if (mode.buildsConsole === true) buildConsole(log)
    return await forEver()
  } catch (error) {
    // A start that is stopped has not failed; the drain reports how it ended.
    if (stopping.aborted) return forEver()
    await app.drain({ now: true })
    const failure = describeStartFailure(error)
    reportStartFailure(log, failure)
    return failure.exitCode
  }
}

const forEver = () => new Promise<never>(() => {})

/** Logs the effective settings, and the names that are probably misspelt. */
export function logSettings({ application: log }: Loggers, { settings, suspicious }: StartNotes): void {
  log.info({ settings, pid: process.pid, node: process.version }, 'starting')
  for (const { name, meant } of suspicious) log.warn({ name, meant }, `${name} is not a setting; did you mean ${meant}?`)
}
