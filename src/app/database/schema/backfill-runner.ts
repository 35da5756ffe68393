import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { noteFailure, readBackfills, runBatch } from './backfills.ts'
import { withSideClient } from '../side-sessions.ts'
import { readMigrations, type MigrationFile } from './migration-files.ts'
import type { Metrics } from '../../metrics/metrics.ts'

export interface BackfillOptions {
  /** `Connection.runtime`. */
  readonly client: ClientConfig
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'measure'>
  /** Another folder than the installation's `migrations`. */
  readonly migrations?: string | undefined
  readonly signal: AbortSignal
}

/** How soon a backfill that was held goes on, and one that failed is tried again. */
const pollMs = 2000
const batchTimeoutMs = 60_000

/** The lock of the one process of all that fills. */
export const backfillLock = `hashtextextended('gatehouse:backfills', 0)`

/**
 * Runs the backfills of this build in their order, in batches and no faster than their rate, until all are done. Any number of
 * processes may do this; one of them works. Resolves then, or soon after the signal; never rejects.
 */
export async function runBackfills({ client, log, metrics, migrations, signal }: BackfillOptions): Promise<void> {
  const files = (await readMigrations(migrations)).filter(({ phase }) => phase === 'backfill')
  let pending = 0
  metrics.measure('gateway_backfills_pending', () => pending)
  const onPending = (count: number) => void (pending = count)
  while (files.length > 0 && !signal.aborted) {
    try {
      if (await withSideClient('backfills', patient(client), (connected) => session(connected, files, { log, signal, onPending }))) return
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'backfills could not go on; trying again')
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}

const patient = (client: ClientConfig): ClientConfig => ({
  ...client,
  options: `${client.options ?? ''} -c statement_timeout=${batchTimeoutMs} -c idle_session_timeout=0`,
})

type Options = Pick<BackfillOptions, 'log' | 'signal'> & { readonly onPending: (count: number) => void }

/** Fills as far as it can now; true when everything is done. */
async function session(client: Client, files: readonly MigrationFile[], options: Options): Promise<boolean> {
  const { rows } = await client.query<{ leads: boolean }>(`SELECT pg_try_advisory_lock(${backfillLock}) AS leads`)
  options.onPending(await countUnfinished(client, files))
  if (rows[0]?.leads === true) for (const file of files) await runOne(client, file, options)
  const unfinished = await countUnfinished(client, files)
  options.onPending(unfinished)
  return unfinished === 0
}

/** Counts the backfills of this build that the database lists and that are not done. */
async function countUnfinished(client: Client, files: readonly MigrationFile[]): Promise<number> {
  const ids = new Set(files.map(({ id }) => id))
  return (await readBackfills(client, files)).filter(({ id, state }) => state !== 'done' && ids.has(id)).length
}

/** Runs one until it is done, held, or fails; a failure is noted, and holds up no other. */
async function runOne(client: Client, file: MigrationFile, { log, signal }: Options): Promise<void> {
  const { id } = file
  while (!signal.aborted) {
    const startedAt = performance.now()
    try {
      const batch = await runBatch(client, file)
      if (batch === null) return
      if (batch.done) return log.info({ backfill: id }, 'backfill done')
      const tooFastMs = (batch.processed / batch.rate) * 1000 - (performance.now() - startedAt)
      if (tooFastMs > 0) await sleep(tooFastMs, undefined, { signal }).catch(() => {})
    } catch (error) {
      log.error({ err: error, backfill: id }, 'a batch of a backfill failed; it will be tried again')
      await noteFailure(client, id, error instanceof Error ? error.message : 'unknown')
      return
    }
  }
}
