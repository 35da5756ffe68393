import { hostname } from 'node:os'
import type { ClientBase } from 'pg'
import { compareVersions } from '../../../release/version.ts'
import { BootRefusal } from '../../boot-refusal.ts'
import { migrationLockHeld } from './migration-lock.ts'

/** The release state that the database records. */
export interface ReleaseState {
  /** The release that is finalized. */
  readonly level: string
  /** The last of the applied migrations. */
  readonly schemaHead: string
  /** Older releases must not run on it. */
  readonly minAppVersion: string
  /** Names the key that the database was sealed with, as the last start found it; null: no start yet. */
  readonly encryptionKeyFingerprint: string | null
}

/** The deployment that works on the schema, for the history. */
export interface Deployment {
  /** This build's. */
  readonly release: string
  /** The upper bound of the level: a new database begins there. Null: no bound. */
  readonly releaseLevel?: string | null
  readonly image?: string | null
  readonly chart?: string | null
  /** The reason why it overrides the guards. */
  readonly reason?: string | null
}

/** One row of the history. */
export interface HistoryEntry {
  readonly action: 'install' | 'migrate' | 'finalize'
  readonly from: string | null
  readonly to: string
  readonly migrations: readonly string[]
  readonly image: string | null
  readonly chart: string | null
  readonly by: string
  readonly status: 'running' | 'done' | 'failed'
  readonly error: string | null
  /** The reason why the guards were overridden; null: they were not. */
  readonly reason: string | null
  readonly startedAt: Date
  readonly finishedAt: Date | null
}

/** Null before the first migration was complete. */
export async function readReleaseState(client: ClientBase): Promise<ReleaseState | null> {
  if (!(await hasReleaseState(client))) return null
  const { rows } = await client.query<ReleaseState>(
    `SELECT level, schema_head AS "schemaHead", min_app_version AS "minAppVersion", encryption_key_fp AS "encryptionKeyFingerprint" FROM release_state`,
  )
  return rows[0] ?? null
}

/** Returns true if the migration that makes the tables of this module was applied. */
export async function hasReleaseState(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ present: boolean }>(`SELECT to_regclass('release_state') IS NOT NULL AS present`)
  return rows[0]?.present === true
}

/** Throws BootRefusal when a release is older than the schema accepts. */
export function assertAccepted(state: ReleaseState | null, release: string): void {
  if (state === null || compareVersions(release, state.minAppVersion) >= 0) return
  throw new BootRefusal(
    'release_too_old',
    `release ${release} is older than this database accepts, which is ${state.minAppVersion} or later`,
    `run release ${state.minAppVersion} or later, or restore a backup from before it was finalized`,
  )
}

/** The outcome of work on the schema whose process was gone before its end. */
export const cutOff = 'it was cut off'

/** Returns the latest rows, newest first. Work that is marked as running although no session holds the migration lock has failed. */
export async function readHistory(client: ClientBase, limit: number): Promise<readonly HistoryEntry[]> {
  if (!(await hasReleaseState(client))) return []
  const rows = await latestRows(client, limit)
  if (rows.every(({ status }) => status !== 'running') || (await migrationLockHeld(client))) return rows
  // Work that ended before the lock was looked up has written its outcome by now.
  return (await latestRows(client, limit)).map(toInterrupted)
}

const toInterrupted = (row: HistoryEntry): HistoryEntry => (row.status === 'running' ? { ...row, status: 'failed', error: cutOff } : row)

async function latestRows(client: ClientBase, limit: number): Promise<readonly HistoryEntry[]> {
  const { rows } = await client.query<HistoryEntry>(
    `SELECT action, from_release AS "from", to_release AS "to", migrations, image, chart, performed_by AS "by", status, error,
            to_jsonb(release_history) ->> 'reason' AS reason, started_at AS "startedAt", finished_at AS "finishedAt"
       FROM release_history ORDER BY id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

/** The release that last migrated this database; null: none is known. */
export async function lastRelease(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ to: string }>(
    `SELECT to_release AS "to" FROM release_history WHERE status = 'done' AND action <> 'finalize' ORDER BY id DESC LIMIT 1`,
  )
  return rows[0]?.to ?? null
}

/** The entry in the history at the start and at the end of work on the schema. */
export interface Entry {
  readonly action: HistoryEntry['action']
  readonly from: string | null
  readonly to: string
  readonly deployment: Deployment
  readonly startedAt: Date
}

/** Notes that work begins. Any other work that is marked as running was cut off: the caller holds the migration lock. */
export async function beginEntry(client: ClientBase, entry: Entry): Promise<string> {
  await client.query(`UPDATE release_history SET status = 'failed', error = $1, finished_at = now() WHERE status = 'running'`, [cutOff])
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO release_history (action, from_release, to_release, image, chart, performed_by, status, started_at)
     VALUES ($1, $2, $3, $4, $5, session_user || '@' || $6, 'running', $7) RETURNING id`,
    [
      entry.action,
      entry.from,
      entry.to,
      entry.deployment.image ?? null,
      entry.deployment.chart ?? null,
      hostname(),
      entry.startedAt.toISOString(),
    ],
  )
  return rows[0]?.id ?? ''
}

/** Notes the reason for overriding the guards. The column comes with a migration, so that this is for the time after the last one. */
export async function noteReason(client: ClientBase, id: string, reason: string | null | undefined): Promise<void> {
  if (reason) await client.query('UPDATE release_history SET reason = $2 WHERE id = $1', [id, reason])
}

/** Notes how it ended. */
export async function endEntry(
  client: ClientBase,
  id: string,
  outcome: { readonly migrations: readonly string[]; readonly error: string | null },
): Promise<void> {
  const { migrations, error } = outcome
  await client.query(
    `UPDATE release_history SET status = CASE WHEN $2::text IS NULL THEN 'done' ELSE 'failed' END, error = $2, migrations = $3, finished_at = now() WHERE id = $1`,
    [id, error, migrations],
  )
}
