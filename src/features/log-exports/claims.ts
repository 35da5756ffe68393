import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem, inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { tellEvent } from '../../app/events/notice.ts'
import { digestOf, hashed } from './digest.ts'
import type { LogExport } from './log-export.entity.ts'

/** How far the parts of an export reach. */
export interface Progress {
  /** Epoch milliseconds, and the id of the last log at that time: everything up to it is in a part. */
  readonly at: number
  readonly id: string
  /** How much time one look takes in, in milliseconds. */
  readonly window: number
  /** The state of the digest of the parts that are there (`digest.ts`); absent: one of them was made without. */
  readonly digest?: string
}

/** An export of which this process makes the next part. */
export interface ClaimedExport extends Pick<
  LogExport,
  'id' | 'organisationId' | 'workspaceId' | 'ownApiKeyId' | 'ownUserId' | 'kind' | 'format' | 'filters' | 'fields' | 'options'
> {
  readonly startedAt: number
  readonly progress: Progress | null
  readonly parts: number
  readonly rows: number
  readonly bytes: number
  readonly attempts: number
  readonly token: string
}

/** The bytes of the file that come next, and how far they reach. */
export interface Part {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly note: unknown
  readonly progress: Progress
  /** The file ends with it. */
  readonly isLast: boolean
}

/** A part belongs to one process for so long, and the process can renew it. */
const leaseSeconds = 15
const beatMs = 5_000

interface Row {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly own_api_key_id: string | null
  readonly own_user_id: string | null
  readonly kind: LogExport['kind']
  readonly format: LogExport['format']
  readonly filters: LogExport['filters']
  readonly fields: LogExport['fields']
  readonly options: LogExport['options']
  readonly started_ms: number
  readonly progress: Progress | null
  readonly parts: number
  readonly row_count: number
  readonly bytes: number
  readonly attempts: number
}

/** Takes an export for its next part: of the organisation that has waited longest, the export that has waited longest. Null: none waits. */
export async function claim({ orm }: Pick<Deps, 'orm'>): Promise<ClaimedExport | null> {
  const token = randomUUID()
  const [row] = await asSystem(orm, (em) =>
    em.execute<Row[]>(
      `UPDATE log_exports SET lease_token = ?, lease_until = now() + ? * interval '1 second', worked_at = now() WHERE id = (
         SELECT e.id FROM log_exports e WHERE e.status = 'in_progress' AND (e.lease_until IS NULL OR e.lease_until <= now())
          ORDER BY (SELECT max(o.worked_at) FROM log_exports o WHERE o.organisation_id = e.organisation_id) NULLS FIRST,
                   e.worked_at NULLS FIRST, e.created_at LIMIT 1 FOR UPDATE OF e SKIP LOCKED)
       RETURNING id, organisation_id, workspace_id, own_api_key_id, own_user_id, kind, format, filters, fields, options, progress, parts, attempts,
                 row_count::float8 AS row_count, bytes::float8 AS bytes, (extract(epoch FROM started_at) * 1000)::float8 AS started_ms`,
      [token, leaseSeconds],
    ),
  )
  return row === undefined ? null : claimedOf(row, token)
}

const claimedOf = (row: Row, token: string): ClaimedExport => ({
  id: row.id,
  organisationId: row.organisation_id,
  workspaceId: row.workspace_id,
  ownApiKeyId: row.own_api_key_id,
  ownUserId: row.own_user_id,
  kind: row.kind,
  format: row.format,
  filters: row.filters,
  fields: row.fields,
  options: row.options,
  startedAt: row.started_ms,
  progress: row.progress,
  parts: row.parts,
  rows: row.row_count,
  bytes: row.bytes,
  attempts: row.attempts,
  token,
})

/** Does work for as long as its export is claimed: the claim is renewed all the while. */
export async function whileClaimed<T>(
  { orm, log }: Pick<Deps, 'orm' | 'log'>,
  { id, token }: ClaimedExport,
  work: () => Promise<T>,
): Promise<T> {
  const renew = () =>
    asSystem(orm, (em) =>
      em.execute(`UPDATE log_exports SET lease_until = now() + ? * interval '1 second' WHERE id = ? AND lease_token = ?`, [
        leaseSeconds,
        id,
        token,
      ]),
    ).catch((error: unknown) => log.warn({ err: error, export: id }, 'the claim of an export could not be renewed'))
  const beat = setInterval(() => void renew(), beatMs)
  try {
    return await work()
  } finally {
    clearInterval(beat)
  }
}

/**
 * Stores a part and how far it reaches in one transaction. Returns false, without storing it, if the export was stopped, or belongs to another
 * process by now.
 */
export async function storePart(
  { orm, config, vault }: Pick<Deps, 'orm' | 'config' | 'vault'>,
  claimed: ClaimedExport,
  part: StoredPart,
): Promise<boolean> {
  const { id, organisationId, token, parts } = claimed
  const progress = { ...part.progress, ...(await digestBehind(claimed, part)) }
  const sha256 = part.isLast && progress.digest !== undefined ? digestOf(progress.digest) : null
  const content = config.logSealing ? Buffer.concat(vault.logs.seal(partPlace(claimed, parts), [part.packed])) : part.packed
  return inTenant(orm, organisationId, async (em) => {
    const taken = await em.execute<unknown[]>(
      `UPDATE log_exports SET progress = ?::jsonb, parts = parts + 1, row_count = row_count + ?, bytes = bytes + ?, attempts = 0, error = NULL,
              lease_token = NULL, lease_until = NULL, last_updated_at = now(), sha256 = ?,
              status = CASE WHEN ? THEN 'success' ELSE status END, ended_at = CASE WHEN ? THEN now() END,
              expires_at = CASE WHEN ? THEN now() + ? * interval '1 day' END
        WHERE id = ? AND lease_token = ? AND status = 'in_progress' AND parts = ? RETURNING id`,
      [JSON.stringify(progress), part.rows, part.bytes.length, sha256, part.isLast, part.isLast, part.isLast, keptDays, id, token, parts],
    )
    if (taken.length === 0) return false
    await tellEvent(em, { topic: 'exports', organisationId, id })
    await insertPart(em, claimed, { ...part, content: Buffer.from(content), isSealed: config.logSealing })
    return true
  })
}

/** Returns the state of the digest behind a part; undefined if one of the parts before it is missing. */
async function digestBehind({ parts, progress }: ClaimedExport, { bytes }: Part): Promise<Pick<Progress, 'digest'>> {
  if (parts > 0 && progress?.digest === undefined) return {}
  return { digest: await hashed(progress?.digest ?? null, bytes) }
}

/** A file is kept for so long. */
const keptDays = 7

interface StoredPart extends Part {
  /** The bytes, compressed. */
  readonly packed: Uint8Array
}

const insertPart = (
  em: EntityManager,
  { id, organisationId, parts }: ClaimedExport,
  { bytes, note, content, isSealed }: Part & { readonly content: Buffer; readonly isSealed: boolean },
): Promise<unknown> =>
  em.execute(
    `INSERT INTO log_export_parts (organisation_id, export_id, part, bytes, note, is_sealed, content) VALUES (?, ?, ?, ?, ?::jsonb, ?, decode(?, 'base64'))`,
    [organisationId, id, parts, bytes.length, note === null ? null : JSON.stringify(note), isSealed, content.toString('base64')],
  )

/** The place for which a part is sealed: it opens for no other. */
export const partPlace = ({ id, organisationId }: Pick<ClaimedExport, 'id' | 'organisationId'>, part: number) => ({
  id: `log_export_parts ${id} ${part}`,
  organisationId,
  createdAt: 0,
})

const mostAttempts = 12
const longestWaitSeconds = 300

/** Notes that a part could not be made: it is tried again later, each time after a longer wait, until it is given up. */
export async function noteFailure(
  { orm }: Pick<Deps, 'orm'>,
  { id, organisationId, token, attempts }: ClaimedExport,
  why: Failure,
): Promise<void> {
  const isOver = why.isFinal || attempts + 1 >= mostAttempts
  const wait = Math.min(2 ** attempts, longestWaitSeconds)
  await inTenant(orm, organisationId, async (em) => {
    const rows = await em.execute<unknown[]>(
      `UPDATE log_exports SET attempts = attempts + 1, error = ?, lease_token = NULL, last_updated_at = now(),
              lease_until = CASE WHEN ? THEN NULL ELSE now() + ? * interval '1 second' END,
              status = CASE WHEN ? THEN 'failed' ELSE status END, ended_at = CASE WHEN ? THEN now() END
        WHERE id = ? AND lease_token = ? AND status = 'in_progress' RETURNING id`,
      [why.message, isOver, wait, isOver, isOver, id, token],
    )
    if (rows.length > 0) await tellEvent(em, { topic: 'exports', organisationId, id })
    if (rows.length > 0 && isOver) await em.execute('DELETE FROM log_export_parts WHERE export_id = ?', [id])
  })
}

interface Failure {
  readonly message: string
  /** It would fail again. */
  readonly isFinal: boolean
}
