import { AggregatorRegistry } from 'prom-client'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { createApp } from '../start/app.ts'
import { readToWorker, unpackDatabase, type ToPrimary } from './messages.ts'
import type { Feature } from '../feature.ts'
import { collectStartGarbage } from './heap.ts'
import type { Loggers } from '../logging/log.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { onFault } from './signals.ts'

/** Runs one worker: the primary decides when it listens on the shared port, and reports when the database is prepared. */
export async function runWorker(config: Config, features: readonly Feature[], loggers: Loggers): Promise<number> {
  const metrics = createMetrics(config.version)
  shareMetrics(metrics.registry)
  const prepared = Promise.withResolvers<DatabaseConfig>()
  const ended = Promise.withResolvers<number>()
  const app = await createApp(config, features, { loggers, metrics, prepared: prepared.promise, clusterMetrics: askForMetrics() })
  let ending = false
  const end = (code: number, now: boolean) => {
    ending = true
    prepared.reject(new Error('stopped before the database was there'))
    app.drain({ now }).then(
      () => ended.resolve(code),
      () => ended.resolve(1),
    )
  }
  onFault(loggers.application, () => end(1, true))
  // Signals of a terminal reach the whole group; the primary decides the reaction.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  process.on('disconnect', () => end(0, false))
  const fail = (error: unknown) => {
    if (ending) return
    loggers.application.fatal({ err: error }, 'the start of a worker failed')
    end(1, true)
  }
  process.on('message', (message) => {
    const told = readToWorker(message)
    if (told?.kind === 'listen') app.listen().then(({ port }) => tell({ kind: 'listening', port }), fail)
    if (told?.kind === 'database') prepared.resolve(unpackDatabase(config.database, told.database))
    if (told?.kind === 'drain') end(0, told.now)
  })
  app.started.then(ready, fail)
  return ended.promise
}

function ready(): void {
  collectStartGarbage()
  tell({ kind: 'ready' })
}

const tell = (message: ToPrimary) => process.send?.(message)

/** Lets the primary collect this worker's figures. */
function shareMetrics(registry: ReturnType<typeof createMetrics>['registry']): void {
  AggregatorRegistry.setRegistries([registry])
  void new AggregatorRegistry()
}

const answerWithinMs = 6_000

/** Asks the primary for the figures of all workers, since a scrape reaches any one of them. */
function askForMetrics(): () => Promise<string> {
  let asked = 0
  return () => {
    const id = ++asked
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const receive = (message: unknown) => {
      const told = readToWorker(message)
      if (told?.kind === 'metrics' && told.id === id) resolve(told.text)
    }
    const timer = setTimeout(() => reject(new Error('the primary process gave no metrics')), answerWithinMs)
    process.on('message', receive)
    tell({ kind: 'metrics', id })
    return promise.finally(() => {
      clearTimeout(timer)
      process.off('message', receive)
    })
  }
}
