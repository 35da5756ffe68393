import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { version } from '../../../config/version.ts'
import { lowest } from '../../../release/level.ts'
import { compareVersions } from '../../../release/version.ts'
import { ensureAppRole, lacksAppRole } from '../app-role.ts'
import { applyWithRetries, createTable, readApplied, type ApplyOptions, type Run } from './apply-migration.ts'
import { withClient, withWorker } from './migration-client.ts'
import { readMigrations, type MigrationFile } from './migration-files.ts'
import { withMigrationLock } from './migration-lock.ts'
import {
  assertAccepted,
  beginEntry,
  endEntry,
  hasReleaseState,
  lastRelease,
  noteReason,
  readReleaseState,
  type Deployment,
  type ReleaseState,
} from './release-state.ts'

export interface MigrateOptions extends ApplyOptions {
  /** Another folder than the installation's `migrations`. */
  readonly directory?: string
  /** The deployment that migrates; absent: this build, whose place of deployment is unknown. */
  readonly deployment?: Deployment
}

/**
 * Brings the schema up to this build and returns the migrations that this call applied. Any number of processes may call it at once, and any of them
 * may die at any statement: the next call goes on where the database stands. Give it `Connection.login`. Throws BootRefusal when the database accepts
 * only later releases.
 */
export async function migrate(client: ClientConfig, log: Logger, options: MigrateOptions = {}): Promise<readonly string[]> {
  const files = await readMigrations(options.directory)
  const deployment = options.deployment ?? { release: version() }
  if (await isCurrent(client, files, deployment)) return []
  return withMigrationLock(client, { log, signal: options.signal }, (lost) =>
    withWorker(client, lost, (worker) => bringUp({ worker, log, options }, files, deployment)),
  )
}

/** The migrations of this build that this database lacks; an error when an applied one was changed since. */
export async function pendingMigrations(client: ClientConfig, options: Pick<MigrateOptions, 'directory'> = {}): Promise<readonly string[]> {
  const files = await readMigrations(options.directory)
  return withClient(client, async (connected) => (await pendingOf('expand', connected, files)).map(({ id }) => id))
}

/** The files of a phase that were not applied, in order. */
export async function pendingOf(
  phase: MigrationFile['phase'],
  client: Client,
  files: readonly MigrationFile[],
): Promise<readonly MigrationFile[]> {
  const applied = await readApplied(client, files)
  return files.filter((file) => file.phase === phase && !applied.has(file.id))
}

/** Most starts have no migration to apply, and then neither take the lock nor wait for it. */
const isCurrent = (client: ClientConfig, files: readonly MigrationFile[], { release }: Deployment) =>
  withClient(client, async (connected) => {
    const state = await readReleaseState(connected)
    assertAccepted(state, release)
    if ((await pendingOf('expand', connected, files)).length > 0 || (await lacksAppRole(connected))) return false
    if (!(await hasReleaseState(connected))) return true
    const settled = state?.schemaHead === (await headOf(connected)) && (await lastRelease(connected)) === release
    return settled && (await lacksNoBackfill(connected, files, release))
  })

async function lacksNoBackfill(client: Client, files: readonly MigrationFile[], release: string): Promise<boolean> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM backfill_state')
  const known = new Set(rows.map(({ id }) => id))
  return backfillsWithin(files, release).every(({ id }) => known.has(id))
}

const backfillsWithin = (files: readonly MigrationFile[], release: string) =>
  files.filter((file) => file.phase === 'backfill' && isWithin(file, release))

/** Returns the level of a new database: at most the operator's RELEASE_LEVEL, so that every later release is still ahead. */
const firstLevel = ({ release, releaseLevel = null }: Deployment) => lowest(release, releaseLevel)

/** A database without a state is new: it holds no data, so that migrations that contract a schema can run at once. */
async function bringUp(run: Run, files: readonly MigrationFile[], deployment: Deployment): Promise<readonly string[]> {
  const { worker } = run
  await worker.query(createTable)
  const state = await readReleaseState(worker)
  assertAccepted(state, deployment.release)
  const history = openHistory(worker, state, deployment)
  const applied: string[] = []
  const apply = async (pending: readonly MigrationFile[]) => {
    for (const file of pending) {
      await applyWithRetries(file, run)
      applied.push(file.id)
    }
  }
  try {
    await history.begin()
    await apply(await pendingOf('expand', worker, files))
    await ensureAppRole(worker)
    await history.begin()
    await history.explain()
    if (state === null && (await hasReleaseState(worker)))
      await apply((await pendingOf('contract', worker, files)).filter((file) => isWithin(file, firstLevel(deployment))))
    await settle(worker, { files, state, deployment })
    await history.end(applied, null)
    return applied
  } catch (error) {
    await history.end(applied, describeEnd(error, run.options)).catch(() => {})
    throw error
  }
}

/** Returns the note in the history for work that did not finish. */
export const describeEnd = (error: unknown, { signal }: Pick<ApplyOptions, 'signal'>): string =>
  signal?.aborted === true ? 'it was told to stop' : error instanceof Error ? error.message : 'unknown'

/** Returns true if a file belongs to a release or an earlier one. */
export const isWithin = (file: Pick<MigrationFile, 'release'>, release: string): boolean => compareVersions(file.release, release) <= 0

/** The entry of this run, begun as soon as there is a table for it. */
function openHistory(worker: Client, state: ReleaseState | null, deployment: Deployment) {
  const startedAt = new Date()
  let id: string | null = null
  return {
    async begin() {
      if (id !== null || !(await hasReleaseState(worker))) return
      const action = state === null ? 'install' : 'migrate'
      id = await beginEntry(worker, { action, from: await lastRelease(worker), to: deployment.release, deployment, startedAt })
    },
    async explain() {
      if (id !== null) await noteReason(worker, id, deployment.reason)
    },
    async end(migrations: readonly string[], error: string | null) {
      if (id !== null) await endEntry(worker, id, { migrations, error })
    },
  }
}

interface SchemaState {
  readonly files: readonly MigrationFile[]
  readonly state: ReleaseState | null
  readonly deployment: Deployment
}

/** Writes down where the database stands. A new one needs no backfills of finalized releases. */
async function settle(worker: Client, { files, state, deployment }: SchemaState): Promise<void> {
  if (!(await hasReleaseState(worker))) return
  const level = firstLevel(deployment)
  await worker.query('BEGIN')
  try {
    for (const file of backfillsWithin(files, deployment.release))
      await worker.query('INSERT INTO backfill_state (id, done) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        file.id,
        state === null && isWithin(file, level),
      ])
    await worker.query(
      `INSERT INTO release_state (level, schema_head, min_app_version) VALUES ($1, $2, $1)
       ON CONFLICT (single) DO UPDATE SET schema_head = excluded.schema_head, updated_at = now()`,
      [level, await headOf(worker)],
    )
    await worker.query('COMMIT')
  } catch (error) {
    await worker.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** The last of the applied migrations; empty when there is none. Ids are compared as bytes, like everywhere. */
export async function headOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ head: string | null }>(`SELECT max(id COLLATE "C") AS head FROM schema_migrations`)
  return rows[0]?.head ?? ''
}
