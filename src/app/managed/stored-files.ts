import type { LogSeal } from '../../gateway/ports/journal.ts'
import {
  newOwnId,
  type ByteRange,
  type FileFacts,
  type FilePage,
  type FileStore,
  type FileWriter,
  type NewFile,
  type StoredFile,
} from '../../gateway/ports/managed.ts'
import type { ProviderScope } from '../../gateway/ports/callers.ts'
import type { ResponseOwner, ResponseReader } from '../../gateway/ports/stored-responses.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { createPieceCutter, createPieces, placeOfName, type Pieces, readPieces, sealPiece } from './file-pieces.ts'
import { leftOf, type Quota, used, type UsedBytes } from './quota.ts'
import { inTenant, reachable, readerValues, seconds, visibleTo } from './tenant-query.ts'

export interface StoredFilesOptions extends Quota {
  readonly side: SidePool
  readonly seal: LogSeal
}

interface State extends Omit<StoredFilesOptions, 'side'> {
  readonly connections: SideConnections
  readonly pieces: Pieces
}

interface Row {
  readonly id: string
  readonly name: Buffer
  readonly purpose: string
  readonly bytes: string
  readonly created: number
  readonly expires: number | null
}

const columns = `id, name, purpose, bytes, ${seconds('created_at')} AS created, ${seconds('expires_at')} AS expires`
/** A file that is over is gone, also before the job deletes it. */
const live = `state = 'ready' AND (expires_at IS NULL OR expires_at > now())`

/** Files in PostgreSQL, sealed, each visible to its organisation only. */
export function openStoredFiles({ side, ...options }: StoredFilesOptions): FileStore {
  const connections = side.of('files')
  const state: State = { ...options, connections, pieces: createPieces(connections, options.seal) }
  return {
    begin: (owner, file) => begin(state, owner, file),
    left: (scope) => leftBytes(state, scope),
    async get(id, reader) {
      const [row] = await inTenant<Row>(state.connections, reader.organisationId, [
        {
          text: `SELECT ${columns} FROM files WHERE ${visibleTo} AND id = $5 AND ${live}`,
          values: [...readerValues(reader), id],
        },
      ])
      return row === undefined ? null : toFile(state, reader, row)
    },
    list: (reader, page) => list(state, reader, page),
    read: (id, scope, range: ByteRange) => readPieces(state.pieces, { id, scope, range }),
    remove: (id, reader) => remove(state, id, reader),
  }
}

function toFile({ seal }: Pick<State, 'seal'>, scope: ProviderScope, row: Row): StoredFile {
  const { id, purpose, created, expires } = row
  const name = seal.open(placeOfName(id, scope), row.name).toString('utf8')
  return { id, name, purpose, bytes: Number(row.bytes), createdAt: created, expiresAt: expires }
}

async function list(state: State, reader: ResponseReader, { limit, order, after, purpose }: FilePage): Promise<readonly StoredFile[]> {
  const [way, sign] = order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
  const rows = await inTenant<Row>(state.connections, reader.organisationId, [
    {
      text: `SELECT ${columns} FROM files
              WHERE ${visibleTo} AND ${live}
                AND ($5::text IS NULL OR purpose = $5)
                AND ($6::text IS NULL OR (created_at, id) ${sign} (SELECT f.created_at, f.id FROM files f WHERE f.id = $6))
              ORDER BY created_at ${way}, id ${way} LIMIT $7`,
      values: [...readerValues(reader), purpose, after, limit],
    },
  ])
  return rows.map((row) => toFile(state, reader, row))
}

/** The files whose lines still run stay. */
const inUse = `SELECT 1 FROM batches WHERE input_file_id = $1 AND state IN ('validating', 'in_progress', 'cancelling', 'finalizing')`

async function remove(state: State, id: string, reader: ResponseReader): Promise<'removed' | 'absent' | 'in use'> {
  const rows = await inTenant<{ busy: boolean }>(state.connections, reader.organisationId, [
    {
      text: `WITH found AS (SELECT id FROM files WHERE ${visibleTo} AND id = $5 AND ${live}),
                  gone AS (DELETE FROM files f USING found WHERE f.id = found.id AND NOT EXISTS (${inUse.replace('$1', '$5')}) RETURNING f.id)
             SELECT NOT EXISTS (SELECT 1 FROM gone) AS busy FROM found`,
      values: [...readerValues(reader), id],
    },
  ])
  const [found] = rows
  return found === undefined ? 'absent' : found.busy ? 'in use' : 'removed'
}

const overQuota = (left: number): ApiError =>
  new ApiError(
    'payload_too_large',
    `The file does not fit: ${Math.max(0, left)} bytes of the quota of this workspace or organisation are free. Delete files that are not needed any more.`,
    { param: 'file' },
  )

async function leftBytes(state: State, { organisationId, workspaceId }: ProviderScope): Promise<number> {
  const [sums] = await inTenant<UsedBytes>(state.connections, organisationId, [{ text: used, values: [organisationId, workspaceId] }])
  return sums === undefined ? Infinity : leftOf(state, workspaceId, sums)
}

async function begin(state: State, owner: ResponseOwner, { name, purpose, livesSeconds, batchId }: NewFile): Promise<FileWriter> {
  const { organisationId, workspaceId, apiKeyId, userId } = owner
  // The files of a batch are its results, which were paid for: they are never refused.
  const most = batchId === null ? await leftBytes(state, owner) : Infinity
  if (most <= 0) throw overQuota(most)
  const id = newOwnId('file', owner)
  const sealedName = Buffer.concat(state.seal.seal(placeOfName(id, owner), [Buffer.from(name)]))
  await inTenant(state.connections, organisationId, [
    {
      text: `INSERT INTO files (id, organisation_id, workspace_id, api_key_id, user_id, name, purpose, expires_at, batch_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second', $9)`,
      values: [id, organisationId, workspaceId, apiKeyId, userId, sealedName, purpose, livesSeconds, batchId],
    },
  ])
  return writer(state, { id, owner, left: most })
}

interface OpenUpload {
  readonly id: string
  readonly owner: ResponseOwner
  readonly left: number
}

function writer(state: State, { id, owner, left }: OpenUpload): FileWriter {
  const { organisationId } = owner
  const cutter = createPieceCutter()
  let [bytes, piece] = [0, 0]
  const put = async (plain: Buffer) => {
    const sealed = sealPiece(state.seal, { id, scope: owner, piece }, plain)
    await inTenant(state.connections, organisationId, [
      {
        text: `WITH added AS (INSERT INTO file_pieces (file_id, piece, organisation_id, sealed) VALUES ($1, $2, $3, $4))
               UPDATE files SET bytes = bytes + $5 WHERE id = $1`,
        values: [id, piece, organisationId, sealed, plain.length],
      },
    ])
    piece += 1
  }
  const flush = async () => {
    const last = cutter.rest()
    if (last.length > 0) await put(last)
    return id
  }
  return {
    flush,
    async write(added) {
      bytes += added.length
      if (bytes > left) throw overQuota(left)
      for (const whole of cutter.add(added)) await put(whole)
    },
    async commit(facts) {
      await flush()
      return commit(state, { id, owner, left }, facts)
    },
    async abandon() {
      await inTenant(state.connections, organisationId, [{ text: 'DELETE FROM files WHERE id = $1', values: [id] }]).catch(() => {})
    },
  }
}

const shown = `
  UPDATE files SET state = 'ready', purpose = $2, expires_at = now() + $3 * interval '1 second' WHERE id = $1 AND state = 'uploading' RETURNING ${columns}`

/** The quota is looked at once more when all bytes are known: uploads at the same time did not see each other. */
async function commit(state: State, { id, owner, left }: OpenUpload, { purpose, livesSeconds }: FileFacts): Promise<StoredFile> {
  const { organisationId, workspaceId } = owner
  const row = await reachable(() =>
    state.connections.inOrganisation(organisationId, async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:files:' || $1, 0))`, [organisationId])
      const { rows } = await client.query<UsedBytes>(used, [organisationId, workspaceId])
      const [sums] = rows
      const over = left === Infinity || sums === undefined ? 0 : leftOf(state, workspaceId, sums)
      if (over < 0) throw overQuota(over)
      const ready = await client.query<Row>(shown, [id, purpose, livesSeconds])
      return ready.rows[0]
    }),
  )
  if (row === undefined) throw new ApiError('not_found', 'The file was deleted while it was uploaded.')
  return toFile(state, owner, row)
}
