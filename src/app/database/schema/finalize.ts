import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { releasesBetween, type ReleaseTable } from '../../../release/table.ts'
import { compareVersions } from '../../../release/version.ts'
import { applyWithRetries } from './apply-migration.ts'
import { readBackfills } from './backfills.ts'
import { withClient, withWorker } from './migration-client.ts'
import { readMigrations, type MigrationFile } from './migration-files.ts'
import { withMigrationLock } from './migration-lock.ts'
import { describeEnd, headOf, isWithin, pendingOf, type MigrateOptions } from './migrate.ts'
import { beginEntry, endEntry, noteReason, readReleaseState, type Deployment } from './release-state.ts'
import { servingReleases } from '../serving.ts'

export interface FinalizeOptions extends MigrateOptions {
  readonly deployment: Deployment
  /** The release to reach; absent: this build's. */
  readonly to?: string
  readonly table: ReleaseTable
  /** Why it is done although processes of earlier releases still run; absent: then it is not. */
  readonly force?: string
}

/** The effects of raising the level. */
export interface Finalization {
  /** Null: the database was never migrated. */
  readonly from: string | null
  readonly to: string
  /** The releases whose features come on. */
  readonly releases: readonly string[]
  /** The contract migrations that run. */
  readonly contracts: readonly string[]
  /** Why it cannot be done now; empty: it can. */
  readonly obstacles: readonly string[]
}

/** Returns the effects that `finalize` would have, without any of them. */
export async function planFinalize(client: ClientConfig, options: FinalizeOptions): Promise<Finalization> {
  const files = await readMigrations(options.directory)
  return withClient(client, (connected) => plan(connected, files, options))
}

/**
 * Raises the level: runs the migrations that remove the parts of the schema that only older releases used, and lets the features of the newer ones
 * come on. Does nothing while there are obstacles. Older releases do not start any more from the moment it begins; a run that was cut off continues
 * where it stood. Give it `Connection.login`.
 */
export async function finalize(client: ClientConfig, log: Logger, options: FinalizeOptions): Promise<Finalization> {
  const files = await readMigrations(options.directory)
  return withMigrationLock(client, { log, signal: options.signal }, (lost) =>
    withWorker(client, lost, async (worker) => {
      const found = await plan(worker, files, options)
      if (found.obstacles.length > 0 || isReached(found)) return found
      await raise(worker, found, { files, log, options })
      return found
    }),
  )
}

/** Returns true if no work is left. */
export const isReached = ({ from, to, contracts }: Finalization): boolean => from === to && contracts.length === 0

async function plan(client: Client, files: readonly MigrationFile[], options: FinalizeOptions): Promise<Finalization> {
  const { deployment, table } = options
  const to = options.to ?? deployment.release
  const from = (await readReleaseState(client))?.level ?? null
  const contracts = (await pendingOf('contract', client, files)).filter((file) => isWithin(file, to))
  return {
    from,
    to,
    releases: from === null ? [] : releasesBetween(table, from, to).map(({ version }) => version),
    contracts: contracts.map(({ id }) => id),
    obstacles: [
      ...obstaclesOfReleases({ from, to, build: deployment.release }),
      ...(await obstaclesOfSchema(client, files, { to, contracts, table })),
      ...(options.force !== undefined ? [] : await obstaclesOfProcesses(client, to)),
    ],
  }
}

function obstaclesOfReleases({
  from,
  to,
  build,
}: {
  readonly from: string | null
  readonly to: string
  readonly build: string
}): readonly string[] {
  if (from === null) return ['the database was never migrated: run "gatehouse migrate"']
  return [
    ...(compareVersions(to, build) > 0 ? [`this is release ${build}, which cannot finalize ${to}: run this with release ${to}`] : []),
    ...(compareVersions(to, from) < 0 ? [`${from} is finalized already, and a level does not sink`] : []),
  ]
}

interface Target {
  readonly to: string
  readonly contracts: readonly MigrationFile[]
  readonly table: ReleaseTable
}

async function obstaclesOfSchema(
  client: Client,
  files: readonly MigrationFile[],
  { to, contracts, table }: Target,
): Promise<readonly string[]> {
  const expands = await pendingOf('expand', client, files)
  const ids = new Set(contracts.map(({ id }) => id))
  const needed = new Set(
    table.releases.flatMap(({ migrations }) => migrations.filter(({ id }) => ids.has(id)).flatMap(({ needs }) => needs)),
  )
  const done = new Set((await readBackfills(client, files)).flatMap(({ id, state }) => (state === 'done' ? [id] : [])))
  const open = files.filter((file) => file.phase === 'backfill' && !done.has(file.id) && (isWithin(file, to) || needed.has(file.id)))
  return [
    ...expands.map(({ id }) => `the migration ${id} is pending: run "gatehouse migrate"`),
    ...open.map(({ id }) => `the backfill ${id} is not done: run "gatehouse backfill wait"`),
  ]
}

/** Processes of older releases would misread the rows that the newer one writes from now on. */
async function obstaclesOfProcesses(client: Client, to: string): Promise<readonly string[]> {
  const serving = await servingReleases(client)
  return serving
    .filter(({ release }) => compareVersions(release, to) < 0)
    .map(
      ({ release, processes }) =>
        `${processes === 1 ? '1 process' : `${processes} processes`} of release ${release} still run${processes === 1 ? 's' : ''}: let the rollout end`,
    )
}

interface RaiseContext {
  readonly files: readonly MigrationFile[]
  readonly log: Logger
  readonly options: FinalizeOptions
}

async function raise(worker: Client, { from, to }: Finalization, { files, log, options }: RaiseContext): Promise<void> {
  const { deployment } = options
  const entry = await beginEntry(worker, { action: 'finalize', from, to, deployment, startedAt: new Date() })
  const applied: string[] = []
  try {
    await noteReason(worker, entry, options.force ?? deployment.reason)
    // First, so that no older process can start on a schema that is being reduced.
    await worker.query('UPDATE release_state SET min_app_version = $1, updated_at = now()', [to])
    for (const file of (await pendingOf('contract', worker, files)).filter((contract) => isWithin(contract, to))) {
      await applyWithRetries(file, { worker, log, options })
      applied.push(file.id)
    }
    await worker.query('UPDATE release_state SET level = $1, schema_head = $2, updated_at = now()', [to, await headOf(worker)])
    await endEntry(worker, entry, { migrations: applied, error: null })
  } catch (error) {
    await endEntry(worker, entry, { migrations: applied, error: describeEnd(error, options) }).catch(() => {})
    throw error
  }
}
