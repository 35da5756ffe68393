import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, type Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { announcement } from '../start/announce.ts'
import { buildConsole } from '../start/build-console.ts'
import { createPrimaryBackground, type PrimaryBackground } from './primary-background.ts'
import { packDatabase, readToPrimary, type ToWorker } from './messages.ts'
import type { Feature } from '../feature.ts'
import { renderPrimaryOnly, replaceFamilies } from '../metrics/primary.ts'
import type { DrainOptions } from '../start/app-state.ts'
import { logSettings, type StartPreparation } from './run.ts'
import { onSignals } from './signals.ts'
import type { StartMode } from '../start/start-mode.ts'
import { describeStartFailure, reportStartFailure } from '../start/start-failure.ts'

export { runWorker } from './worker.ts'

interface Member {
  readonly worker: Worker
  /** True once the primary has allowed it. */
  mayListen: boolean
  listening: boolean
  /** It has all that it needs. */
  ready: boolean
}

/** The workers of a primary, and the messages for all of them. */
interface WorkerPool {
  readonly config: Config
  readonly log: Logger
  readonly mode: StartMode
  readonly metrics: AggregatorRegistry<typeof AggregatorRegistry.PROMETHEUS_CONTENT_TYPE>
  /** The metrics of the primary's own work. */
  readonly own: Registry
  database: DatabaseConfig | null
  draining: boolean
  /** Starts that failed one after the other; each doubles the wait before the next. */
  failures: number
  port: number
  readonly members: Set<Member>
  /** Resolved when as many serve as are wanted. */
  readonly complete: PromiseWithResolvers<void>
}

/**
 * Runs `WORKERS` processes that share the port. The primary starts the embedded database, migrates, provisions and runs the
 * jobs, once for all; it serves no request. A worker that dies is started again.
 */
export async function runPrimary(config: Config, features: readonly Feature[], { loggers, notes }: StartPreparation): Promise<number> {
  const log = loggers.application
  logSettings(loggers, notes)
  const background = createPrimaryBackground(config, features, { log, mode: notes.mode })
  const pool: WorkerPool = {
    config,
    log,
    mode: notes.mode,
    metrics: new AggregatorRegistry(),
    own: background.metrics.registry,
    database: null,
    draining: false,
    failures: 0,
    port: 0,
    members: new Set(),
    complete: Promise.withResolvers(),
  }
  const ended = onSignals(log, async (options) => {
    await drainWorkers(pool, options)
    await background.close()
    await loggers.flush()
  })
  for (let count = 0; count < config.workers; count += 1) startWorker(pool)
  return Promise.race([ended, prepare(pool, background)])
}

/** Prepares the database and lets the workers go on; resolves only when that fails. */
async function prepare(pool: WorkerPool, background: PrimaryBackground): Promise<number> {
  try {
    const { database, ...outcome } = await background.prepared
    pool.database = database
    tellAll(packDatabase(database))
    await pool.complete.promise
    process.stdout.write(announcement(pool.config, pool.port, outcome))
    if (pool.mode.buildsConsole === true) buildConsole(pool.log)
    return await forEver()
  } catch (error) {
    // A start that is stopped has not failed; the drain reports how it ended.
    if (pool.draining) return forEver()
    await drainWorkers(pool, { now: true })
    await background.close()
    const failure = describeStartFailure(error)
    reportStartFailure(pool.log, failure)
    return failure.exitCode
  }
}

const forEver = () => new Promise<never>(() => {})

const workers = (): readonly Worker[] => Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? [])

function tellAll(message: ToWorker): void {
  for (const worker of workers()) if (worker.isConnected()) worker.send(message)
}

/** Starts a worker and follows its messages. */
function startWorker(pool: WorkerPool): void {
  const member: Member = { worker: cluster.fork(), mayListen: false, listening: false, ready: false }
  const { worker } = member
  worker.on('online', () => {
    pool.members.add(member)
    if (pool.database !== null) worker.send(packDatabase(pool.database))
    sharePort(pool)
  })
  worker.on('message', (message: unknown) => {
    const told = readToPrimary(message)
    if (told?.kind === 'metrics') void answerMetrics(pool, worker, told.id)
    if (told?.kind === 'listening') {
      pool.port = told.port
      member.listening = true
      welcome(pool, member)
    }
    if (told?.kind === 'ready') {
      member.ready = true
      welcome(pool, member)
      sharePort(pool)
    }
  })
  worker.on('error', (error) => pool.log.warn({ err: error }, 'a worker could not be reached'))
  worker.on('exit', (code, signal) => {
    pool.members.delete(member)
    if (pool.draining) return
    sharePort(pool)
    void replace(pool, { pid: worker.process.pid, code, signal })
  })
}

/**
 * One worker listens from the first, so that it can answer what the start waits for. The others follow when they can serve, and it can: once one
 * worker has been ready, the port leads only to ready workers.
 */
function sharePort({ members }: WorkerPool): void {
  const all = [...members]
  const open = all.filter(({ mayListen }) => mayListen)
  const next = open.length === 0 ? [all.find(({ ready }) => ready) ?? all[0]] : all.filter(({ ready, mayListen }) => ready && !mayListen)
  if (!open.every(({ ready }) => ready)) return
  for (const member of next) {
    if (member === undefined || !member.worker.isConnected()) continue
    member.mayListen = true
    member.worker.send(listen)
  }
}

const serves = ({ listening, ready }: Member): boolean => listening && ready

function welcome(pool: WorkerPool, member: Member): void {
  if (!serves(member)) return
  pool.failures = 0
  const serving = [...pool.members].filter(serves).length
  pool.log.info({ pid: member.worker.process.pid, serving }, 'a worker serves')
  if (serving === pool.config.workers) pool.complete.resolve()
}

const listen: ToWorker = { kind: 'listen' }

const firstWaitMs = 250
const longestWaitMs = 30_000

async function replace(pool: WorkerPool, gone: Readonly<Record<string, unknown>>): Promise<void> {
  const waitMs = Math.min(firstWaitMs * 2 ** pool.failures, longestWaitMs)
  pool.failures += 1
  pool.log.error({ ...gone, restartInMs: waitMs }, 'a worker died')
  await sleep(waitMs)
  if (!pool.draining) startWorker(pool)
}

async function answerMetrics({ metrics, own, log }: WorkerPool, worker: Worker, id: number): Promise<void> {
  try {
    const text = replaceFamilies(await metrics.clusterMetrics(), await renderPrimaryOnly(own))
    if (worker.isConnected()) worker.send({ kind: 'metrics', id, text } satisfies ToWorker)
  } catch (error) {
    log.warn({ err: error }, 'the metrics of the workers could not be collected')
  }
}

const ended = async (worker: Worker) => {
  if (!worker.isDead()) await new Promise((resolve) => worker.once('exit', resolve))
}

/** Resolves when every worker has ended. Workers that outlive the grace are killed. */
async function drainWorkers(pool: WorkerPool, { now = false }: DrainOptions = {}): Promise<void> {
  pool.draining = true
  const all = workers()
  const gone = Promise.all(all.map(ended))
  tellAll({ kind: 'drain', now })
  const patience = new AbortController()
  const late = sleep(now ? 10_000 : pool.config.terminationGraceMs + pool.config.drainDelayMs + 10_000, 'late', {
    signal: patience.signal,
  }).catch(() => null)
  if ((await Promise.race([gone, late])) === 'late') for (const worker of all) worker.process.kill('SIGKILL')
  patience.abort()
}
