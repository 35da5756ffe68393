import type { Client } from 'pg'
import { tellLogsStatement } from '../events/notice.ts'
import type { Column } from './binary-array.ts'
import { bodyColumns, logColumns, type LoggedExchange } from './columns.ts'
import type { EncodedRows } from './rows.ts'
import { wordsStatement } from './words-rows.ts'

/** Rows of one segment, and how they move its cursor. */
export interface RowBatch {
  readonly node: string
  readonly segment: string
  readonly from: number
  readonly to: number
  readonly rows: EncodedRows
  readonly queuesBodies: boolean
}

/** The cursor was not where the batch begins: another process ships the same directory. */
export class CursorMovedError extends Error {}

/**
 * Inserts a batch. Columns travel as binary arrays: of the ways that were measured, the one that costs node-postgres and
 * PostgreSQL the least. The cursor moves in the same transaction, so that no batch is stored twice.
 */
export async function insertBatch(client: Client, batch: RowBatch): Promise<void> {
  const { rows } = batch
  await client.query(
    `BEGIN; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '10s'; SELECT set_config('app.scope', 'system', true)${rows.words === null ? '' : keepsWords}`,
  )
  try {
    await advance(client, batch)
    if (rows.count > 0) {
      await client.query(logStatement, [...rows.logs])
      await client.query(bodyStatement, [...rows.bodies])
      await client.query(
        tellLogsStatement,
        toldPlaces.map((place) => rows.logs[place]),
      )
      if (rows.words !== null && rows.words.count > 0) await client.query(wordsStatement, [...rows.words.parameters])
      if (rows.batches.length > 0) await client.query(batchStatement, [JSON.stringify(rows.batches)])
      if (batch.queuesBodies)
        await client.query(
          uploadStatement,
          uploadPlaces.map((place) => rows.logs[place]),
        )
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Marks that the words of all logs of the transaction are inserted too. */
const keepsWords = `, set_config('app.log_words_kept', 'on', true)`

/** How far a segment is shipped. */
export async function readCursor(client: Client, { node, segment }: { node: string; segment: string }): Promise<number> {
  const { rows } = await client.query<{ shipped: string }>(
    'SELECT shipped_bytes AS shipped FROM journal_cursors WHERE node = $1 AND segment = $2',
    [node, segment],
  )
  return Number(rows[0]?.shipped ?? 0)
}

/** Forgets a segment that no longer exists. */
export async function deleteCursor(client: Client, { node, segment }: { node: string; segment: string }): Promise<void> {
  await client.query('DELETE FROM journal_cursors WHERE node = $1 AND segment = $2', [node, segment])
}

async function advance(client: Client, { node, segment, from, to }: RowBatch): Promise<void> {
  const { rowCount } = await (from === 0
    ? client.query('INSERT INTO journal_cursors (node, segment, shipped_bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
        node,
        segment,
        to,
      ])
    : client.query(
        'UPDATE journal_cursors SET shipped_bytes = $3, updated_at = now() WHERE node = $1 AND segment = $2 AND shipped_bytes = $4',
        [node, segment, to, from],
      ))
  if (rowCount !== 1) throw new CursorMovedError(`the cursor of ${node}/${segment} is not at ${from}`)
}

const logStatement = insertStatement('logs', logColumns)
const bodyStatement = insertStatement('log_bodies', bodyColumns)

/** The columns of `logs` by which a body is found again, and where their arrays are. */
const uploadColumns = logColumns.filter(({ name }) => ['id', 'organisation_id', 'workspace_id', 'created_at'].includes(name))
const uploadPlaces = uploadColumns.map((own) => logColumns.indexOf(own))
/** The columns of logs in events. */
const toldPlaces = ['id', 'organisation_id', 'workspace_id'].map((name) => logColumns.findIndex((column) => column.name === name))
const uploadStatement = insertStatement('log_uploads', uploadColumns)

/** A batch that a client began twice under one idempotency key is one. */
const batchStatement = `
  INSERT INTO provider_batches (id, organisation_id, workspace_id, provider, provider_slug, batch_id, begun_at, provider_id, host, log_id, attempt)
  SELECT r.id, r.organisation_id, r.workspace_id, r.provider, r.provider_slug, r.batch_id, to_timestamp(r.begun_ms / 1000), r.provider_id, r.host, r.log_id, r.attempt
    FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, organisation_id uuid, workspace_id uuid, provider text, provider_slug text, batch_id text, begun_ms float8,
                                             provider_id uuid, host text, log_id uuid, attempt smallint)
    JOIN organisations o ON o.id = r.organisation_id
  ON CONFLICT DO NOTHING`

function insertStatement(table: string, columns: readonly Column<LoggedExchange>[]): string {
  const names = columns.map(({ name }) => name).join(', ')
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')
  return `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) ON CONFLICT DO NOTHING`
}
