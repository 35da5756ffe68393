import { hash } from 'node:crypto'
import type { LogSeal } from '../../gateway/ports/journal.ts'
import { type BatchStore, type BatchTimes, newOwnId, type NewBatch, type NewLine, type StoredBatch } from '../../gateway/ports/managed.ts'
import type { ProviderScope } from '../../gateway/ports/callers.ts'
import type { ResponseOwner } from '../../gateway/ports/stored-responses.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { openOptions, sealCustomId, type SealedBatch, sealOptions } from './batch-seals.ts'
import { inTenant, readerValues, seconds, type Statement, visibleTo } from './tenant-query.ts'

export interface StoredBatchesOptions {
  readonly side: SidePool
  readonly seal: LogSeal
}

/** Batches of one organisation that have not ended. */
const mostOpen = 200
const ended = `state IN ('completed', 'expired', 'cancelled')`

interface Row extends Record<keyof BatchTimes, number | null> {
  readonly id: string
  readonly state: StoredBatch['state']
  readonly endpoint: string
  readonly input_file_id: string
  readonly completion_window: string
  readonly options: Buffer
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly input_tokens: string
  readonly output_tokens: string
  readonly output_file_id: string | null
  readonly error_file_id: string | null
}

const columns = `
  id, state, endpoint, input_file_id, completion_window, options, total, completed AS done, failed, input_tokens, output_tokens,
  CASE WHEN ${ended} THEN output_file_id END AS output_file_id, CASE WHEN ${ended} THEN error_file_id END AS error_file_id,
  ${seconds('created_at')} AS created, ${seconds('in_progress_at')} AS "inProgress", ${seconds('expires_at')} AS expires,
  ${seconds('finalizing_at')} AS finalizing, ${seconds('completed_at')} AS completed, ${seconds('expired_at')} AS expired,
  ${seconds('cancelling_at')} AS cancelling, ${seconds('cancelled_at')} AS cancelled`

/** Batches in PostgreSQL, each visible to its organisation only. */
export function openStoredBatches({ side, seal }: StoredBatchesOptions): BatchStore {
  const connections = side.of('files')
  const run = (organisationId: string, text: string, values: readonly unknown[]) =>
    inTenant<Row>(connections, organisationId, [{ text, values }])
  return {
    begin: (owner, batch) => begin(connections, seal, { owner, batch }),
    async addLines(id, { organisationId }, lines) {
      await inTenant(connections, organisationId, [insertLines(seal, { id, scope: { organisationId } }, lines)])
    },
    async doubles(id, { organisationId }, most) {
      const rows = await inTenant<{ line: number }>(connections, organisationId, [{ text: doubles, values: [id, most] }])
      return rows.map(({ line }) => line)
    },
    async start(id, { organisationId }, total) {
      await run(
        organisationId,
        `UPDATE batches SET state = 'in_progress', in_progress_at = now(), total = $2 WHERE id = $1 AND state = 'validating'`,
        [id, total],
      )
    },
    async drop(id, { organisationId }) {
      await run(organisationId, `DELETE FROM batches WHERE id = $1 AND state = 'validating'`, [id])
    },
    async get(id, reader) {
      const [row] = await run(reader.organisationId, `SELECT ${columns} FROM batches WHERE ${visibleTo} AND id = $5`, [
        ...readerValues(reader),
        id,
      ])
      return row === undefined ? null : toBatch(seal, reader, row)
    },
    async list(reader, { limit, after }) {
      const rows = await run(reader.organisationId, listed, [...readerValues(reader), after, limit])
      return rows.map((row) => toBatch(seal, reader, row))
    },
    async cancel(id, reader) {
      await run(reader.organisationId, cancelled, [...readerValues(reader), id])
    },
  }
}

const listed = `
  SELECT ${columns} FROM batches
   WHERE ${visibleTo} AND ($5::text IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM batches b WHERE b.id = $5))
   ORDER BY created_at DESC, id DESC LIMIT $6`

const cancelled = `
  UPDATE batches SET state = 'cancelling', cancelling_at = now() WHERE ${visibleTo} AND id = $5 AND state = 'in_progress'`

const doubles = `
  SELECT line FROM (SELECT line, row_number() OVER (PARTITION BY custom_hash ORDER BY line) AS nth FROM batch_lines WHERE batch_id = $1) l
   WHERE nth > 1 ORDER BY line LIMIT $2`

const insertLines = (seal: LogSeal, batch: SealedBatch, lines: readonly NewLine[]): Statement => ({
  text: `INSERT INTO batch_lines (batch_id, organisation_id, line, starts_at, bytes, custom_id, custom_hash)
         SELECT $1::text, $2::uuid, * FROM unnest($3::integer[], $4::bigint[], $5::integer[], $6::bytea[], $7::bytea[])`,
  values: [
    batch.id,
    batch.scope.organisationId,
    lines.map(({ line }) => line),
    lines.map(({ start }) => start),
    lines.map(({ bytes }) => bytes),
    lines.map((line) => sealCustomId(seal, batch, line)),
    lines.map(({ customId }) => hash('sha256', customId, 'buffer').subarray(0, 16)),
  ],
})

interface BegunBatch {
  readonly owner: ResponseOwner
  readonly batch: NewBatch
}

async function begin(connections: SideConnections, seal: LogSeal, { owner, batch }: BegunBatch): Promise<string> {
  const { organisationId, workspaceId, apiKeyId, userId } = owner
  const id = newOwnId('batch', owner)
  const { endpoint, inputFileId, window, windowSeconds, outputSeconds, options, clientAddress } = batch
  const rows = await inTenant<{ id: string }>(connections, organisationId, [
    {
      text: `INSERT INTO batches (id, organisation_id, workspace_id, api_key_id, user_id, endpoint, input_file_id, completion_window, expires_at,
                                  output_seconds, options, client_address)
             SELECT $1, $2::uuid, $3::uuid, $4::uuid, $5::uuid, $6, $7, $8, now() + $9 * interval '1 second', $10::integer, $11::bytea, $12
              WHERE (SELECT count(*) FROM batches WHERE organisation_id = $2 AND NOT ${ended}) < ${mostOpen}
             RETURNING id`,
      values: [
        id,
        organisationId,
        workspaceId,
        apiKeyId,
        userId,
        endpoint,
        inputFileId,
        window,
        windowSeconds,
        outputSeconds,
        sealOptions(seal, { id, scope: owner }, options),
        clientAddress,
      ],
    },
  ])
  if (rows.length === 0)
    throw new ApiError(
      'rate_limited',
      `The organisation has ${mostOpen} batches that have not ended, which is the most. Try again when one has.`,
      {
        retryAfter: 60,
      },
    )
  return id
}

function toBatch(seal: LogSeal, scope: ProviderScope, row: Row): StoredBatch {
  const { id, created, inProgress, expires, finalizing, completed, expired, cancelling, cancelled: cancelledAt } = row
  return {
    id,
    state: row.state,
    endpoint: row.endpoint,
    inputFileId: row.input_file_id,
    window: row.completion_window,
    metadata: openOptions(seal, { id, scope }, row.options).metadata,
    times: { created: created ?? 0, inProgress, expires, finalizing, completed, expired, cancelling, cancelled: cancelledAt },
    total: row.total,
    completed: row.done,
    failed: row.failed,
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    outputFileId: row.output_file_id,
    errorFileId: row.error_file_id,
  }
}
