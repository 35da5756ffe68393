import { Worker } from 'node:worker_threads'
import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig, LogStoreConfig } from '../../config/config.ts'
import { packConnection } from '../journal/messages.ts'
import { inTheClear } from '../../lib/plain-secrets.ts'
import type { MoverInput, MoverReport } from './messages.ts'

export interface StartMoverOptions {
  readonly store: LogStoreConfig
  readonly config: Pick<Config, 'identity' | 'logRetentionDays' | 'trustedCustomHosts' | 'connectTimeoutMs' | 'proxies'>
  readonly database: DatabaseConfig
  readonly client: ClientConfig
  readonly log: Logger
}

/** Counts since the start. */
export interface MoverStats {
  readonly moved: number
  readonly failed: number
  /** The logs that waited when they were counted last. */
  readonly waiting: number
  /** Why logs wait; null when the store takes them. */
  readonly fault: string | null
}

/** Moves bodies of logs to the log store, in a thread of its own: no request waits for it. */
export interface RunningMover {
  stats(): MoverStats
  /** Finishes the moves under way within the deadline, in milliseconds. The rest waits in the database for the next start. */
  stop(deadlineMs: number): Promise<void>
}

const respawnAfterMs = 1_000
const resourceLimits = { maxOldGenerationSizeMb: 256 }
const entry = new URL(import.meta.url.endsWith('.ts') ? './log-store-worker.ts' : './log-store-worker.js', import.meta.url)

/** Starts moving. */
export function startMover({ store, config, database, client, log }: StartMoverOptions): RunningMover {
  const workerData: MoverInput = {
    connection: packConnection(database, client),
    store: inTheClear(store),
    identity: inTheClear(config.identity),
    retentionDays: config.logRetentionDays,
    trustedHosts: config.trustedCustomHosts,
    proxies: inTheClear(config.proxies),
    connectTimeoutMs: config.connectTimeoutMs,
  }
  const ended = Promise.withResolvers<void>()
  let stats: MoverStats = { moved: 0, failed: 0, waiting: 0, fault: null }
  let stopping = false
  let worker = spawn()

  function spawn(): Worker {
    const thread = new Worker(entry, { workerData, env: {}, resourceLimits, name: 'log store' })
    thread.unref()
    thread.on('message', receive)
    thread.on('error', (error) => log.error({ err: error }, 'the thread of the log store failed'))
    thread.on('exit', () => (stopping ? ended.resolve() : setTimeout(respawn, respawnAfterMs).unref()))
    return thread
  }

  function respawn(): void {
    if (stopping) ended.resolve()
    else worker = spawn()
  }

  function receive({ moved, failed, fault, waiting }: MoverReport): void {
    if (fault !== null && stats.fault === null)
      log.warn({ store: store.kind, reason: fault }, 'bodies of logs wait in the database for the log store')
    if (fault === null && stats.fault !== null) log.info({ store: store.kind }, 'bodies of logs reach the log store again')
    stats = { moved: stats.moved + moved, failed: stats.failed + failed, waiting: waiting ?? stats.waiting, fault }
  }

  return {
    stats: () => stats,
    async stop(deadlineMs) {
      stopping = true
      worker.postMessage('stop')
      worker.ref()
      const deadline = setTimeout(() => void worker.terminate(), deadlineMs)
      await ended.promise.finally(() => clearTimeout(deadline))
    },
  }
}
