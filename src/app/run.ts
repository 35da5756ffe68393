import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { announcement } from './announce.ts'
import { createApp, type App } from './app.ts'
import { BootRefusal } from './boot-refusal.ts'
import type { Feature } from './feature.ts'
import { collectStartGarbage } from './heap.ts'
import { createLoggers, type Loggers } from './log.ts'
import { onSignals } from './signals.ts'
import type { StartMode } from './start-mode.ts'

/** How a process starts, and what is said of the settings once. */
export interface StartNotes {
  /** Masked. */
  readonly settings: Readonly<Record<string, string>>
  readonly suspicious: readonly { readonly name: string; readonly meant: string }[]
  readonly mode: StartMode
}

/** Runs one process until it is told to end, and gives its exit code. */
export async function run(config: Config, features: readonly Feature[], notes: StartNotes): Promise<number> {
  const loggers = createLoggers(config)
  logSettings(loggers, notes)
  const app = await createApp(config, features, { loggers, mode: notes.mode })
  const stopping = new AbortController()
  const ended = onSignals(loggers.application, (options) => {
    stopping.abort()
    return app.drain(options)
  })
  return Promise.race([ended, serve(app, config, { log: loggers.application, stopping: stopping.signal })])
}

/** Listens and starts; resolves only when that fails. */
async function serve(
  app: App,
  config: Config,
  { log, stopping }: { readonly log: Logger; readonly stopping: AbortSignal },
): Promise<number> {
  try {
    const { port } = await app.listen()
    log.info({ host: config.host, port }, 'listening')
    const { provisioned, deps } = await app.started
    collectStartGarbage()
    log.info({ roles: [...config.roles] }, 'ready')
    process.stdout.write(announcement(config, port, { provisioned, sealed: deps.vault.sealed !== null }))
    return await forEver()
  } catch (error) {
    // A start that was told to end has not failed; how it ended is for the drain to say.
    if (stopping.aborted) return forEver()
    const code = startFailed(log, error)
    await app.drain({ now: true })
    return code
  }
}

const forEver = () => new Promise<never>(() => {})

/** Says why a start failed, for programs and for people, and gives the exit code: 78 when this process must not run here. */
export function startFailed(log: Logger, error: unknown): number {
  if (!(error instanceof BootRefusal)) {
    log.fatal({ err: error }, 'the start failed')
    const why = addressFault(error)
    if (why !== null) process.stderr.write(`Gatehouse does not start: ${why}\n`)
    const folder = unusableFolder(error)
    if (folder !== null) process.stderr.write(`Gatehouse does not start: ${folder}. Set DATA_DIR to a folder that it may write to.\n`)
    return 1
  }
  const { code, advice, message } = error
  log.fatal({ refusal: code, advice, exit_code: 78 }, message)
  process.stderr.write(`Gatehouse does not start: ${message}.\n`)
  return 78
}

/** Why an address could not be listened on: so often the reason that it is told in words. */
function addressFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const [address, port] = [String(Reflect.get(error, 'address')), String(Reflect.get(error, 'port'))]
  const code: unknown = Reflect.get(error, 'code')
  if (code === 'EADDRINUSE') return `something else listens at ${address}:${port}. End it, or set PORT.`
  if (code === 'EADDRNOTAVAIL') return `${address} is no address of this machine. Set HOST to one that is, or to 0.0.0.0.`
  return null
}

/** What stands in the way of a folder of ours; all of them lie in DATA_DIR. */
const unusableFolder = (error: unknown): string | null =>
  error instanceof Error && Reflect.get(error, 'syscall') === 'mkdir' ? `the folder cannot be made (${error.message})` : null

/** Logs the effective settings, and the names that are probably misspelt. */
export function logSettings({ application: log }: Loggers, { settings, suspicious }: StartNotes): void {
  log.info({ settings, pid: process.pid, node: process.version }, 'starting')
  for (const { name, meant } of suspicious) log.warn({ name, meant }, `${name} is not a setting; did you mean ${meant}?`)
}
