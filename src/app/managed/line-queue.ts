import { randomUUID } from 'node:crypto'
import type { LogSeal } from '../../gateway/ports/journal.ts'
import { type ClaimedLine, leaseMs, type LineQueue, type OpenBatch } from '../../gateway/ports/managed.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { openCustomId, type SealedBatch, sealResult } from './batch-seals.ts'
import { endingOf } from './ending-batches.ts'
import { full, type Quota } from './quota.ts'
import { openColumns, type OpenRow, toOpen } from './open-batch.ts'
import { reachable } from './tenant-query.ts'

export interface LineQueueOptions extends Pick<Quota, 'organisationBytes'> {
  readonly side: SidePool
  readonly seal: LogSeal
}

/** The queue of one process. */
interface State {
  readonly connections: SideConnections
  readonly seal: LogSeal
  /** The process, as its leases name it. */
  readonly runner: string
  readonly organisationBytes: number
  /** Organisations whose results have passed their quota, as they were a moment ago. */
  full: { readonly until: number; readonly ids: ReadonlySet<string> }
}

/** The lines of batches in PostgreSQL, for one process that runs them. */
export function openLineQueue({ side, seal, organisationBytes }: LineQueueOptions): LineQueue {
  const state: State = {
    connections: side.of('batches'),
    seal,
    runner: randomUUID(),
    organisationBytes,
    full: { until: 0, ids: new Set() },
  }
  const { connections, runner } = state
  const run = async <Row extends object = object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> =>
    reachable(async () => (await connections.query<Row>(text, values)).rows)
  return {
    open: () => open(state),
    async claim(batch, most) {
      const rows = await run<ClaimRow>(claim, [batch.id, runner, most])
      return rows.map((row) => toLine(seal, { id: batch.id, scope: batch }, row))
    },
    async renew(held) {
      await run(renew, [runner, held.map(({ batch }) => batch.id), held.map(({ line }) => line.line)])
    },
    async finish(batch, line, { failed, text, inputTokens, outputTokens }) {
      const sealed = sealResult(seal, { id: batch.id, scope: batch }, { line, text })
      const rows = await run(finish, [batch.id, line, runner, failed, sealed, inputTokens, outputTokens])
      return rows.length > 0
    },
    async retry({ id }, line, waitMs) {
      await run(
        `UPDATE batch_lines SET state = 'waiting', runner = NULL, begun_ms = NULL, failures = failures + 1, free_at = now() + $4 * interval '1 millisecond'
          WHERE batch_id = $1 AND line = $2 AND runner = $3 AND state = 'running'`,
        [id, line, runner, waitMs],
      )
    },
    async isOpen({ id }) {
      return (await run(`SELECT 1 FROM batches WHERE id = $1 AND state = 'in_progress' AND expires_at > now()`, [id])).length > 0
    },
    async release({ id }, lines) {
      await run(release, [id, lines, runner])
    },
    async logged(logId, begunAt) {
      const [row] = await run<{ whole: boolean }>(logged, [logId, (begunAt - 1) / 1000, (begunAt + 1) / 1000])
      return row === undefined ? null : row.whole ? 'complete' : 'broken'
    },
    ...endingOf(state),
  }
}

const lease = `interval '${leaseMs} milliseconds'`

/** So many of each organisation are looked at, so that none keeps the others away. */
const mostOfOne = 8

const openBatches = `
  SELECT ${openColumns} FROM (
    SELECT b.*, row_number() OVER (PARTITION BY b.organisation_id ORDER BY b.created_at) AS turn FROM batches b
     WHERE b.state = 'in_progress' AND b.expires_at > now() AND b.completed + b.failed < b.total
       AND EXISTS (SELECT 1 FROM batch_lines l WHERE l.batch_id = b.id AND l.state <> 'done' AND l.free_at <= now())
  ) o WHERE turn <= ${mostOfOne} ORDER BY turn, created_at LIMIT 256`

const open = (state: State): Promise<readonly OpenBatch[]> =>
  reachable(async () => {
    const { rows } = await state.connections.query<OpenRow>(openBatches)
    const ids = await fullOf(
      state,
      rows.map((row) => row.organisation_id),
    )
    return rows.filter((row) => !ids.has(row.organisation_id)).map((row) => toOpen(state.seal, row))
  })

/** Sums are looked at so seldom: they cost more than the look for lines. */
const sumsMs = 5000

async function fullOf(state: State, organisations: readonly string[]): Promise<ReadonlySet<string>> {
  if (performance.now() < state.full.until || organisations.length === 0) return state.full.ids
  const { rows } = await state.connections.query<{ id: string }>(full, [[...new Set(organisations)], state.organisationBytes])
  state.full = { until: performance.now() + sumsMs, ids: new Set(rows.map(({ id }) => id)) }
  return state.full.ids
}

/** A line whose lease is over is claimed again, and its log begins where it began. */
const claim = `
  WITH free AS (
    SELECT l.line, l.begun_ms IS NOT NULL AS doubtful FROM batch_lines l
     WHERE l.batch_id = $1 AND EXISTS (SELECT 1 FROM batches b WHERE b.id = $1 AND b.state = 'in_progress')
       AND l.state <> 'done' AND l.free_at <= now()
     ORDER BY l.free_at, l.line LIMIT $3 FOR UPDATE SKIP LOCKED)
  UPDATE batch_lines l
     SET state = 'running', runner = $2, free_at = now() + ${lease}, attempts = l.attempts + 1,
         begun_ms = coalesce(l.begun_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    FROM free WHERE l.batch_id = $1 AND l.line = free.line
  RETURNING l.line, l.custom_id, l.starts_at, l.bytes, l.attempts, l.failures, l.begun_ms, free.doubtful`

interface ClaimRow {
  readonly line: number
  readonly custom_id: Buffer
  readonly starts_at: string
  readonly bytes: number
  readonly attempts: number
  readonly failures: number
  readonly begun_ms: string
  readonly doubtful: boolean
}

const toLine = (seal: LogSeal, batch: SealedBatch, row: ClaimRow): ClaimedLine => ({
  line: row.line,
  customId: openCustomId(seal, batch, { line: row.line, sealed: row.custom_id }),
  start: Number(row.starts_at),
  bytes: row.bytes,
  attempts: row.attempts - row.failures,
  failures: row.failures,
  begunAt: Number(row.begun_ms),
  isDoubtful: row.doubtful,
})

const renew = `
  UPDATE batch_lines l SET free_at = now() + ${lease} FROM unnest($2::text[], $3::integer[]) AS held (batch_id, line)
   WHERE l.batch_id = held.batch_id AND l.line = held.line AND l.runner = $1 AND l.state = 'running'`

/** Providers report any number: a sum beyond is not exact, and no reason to lose a result. */
const mostTokens = Number.MAX_SAFE_INTEGER

/** The result and the counts of its batch change together. */
const finish = `
  WITH done AS (
    UPDATE batch_lines SET state = 'done', runner = NULL, failed = $4, result = $5
     WHERE batch_id = $1 AND line = $2 AND runner = $3 AND state = 'running' RETURNING batch_id)
  UPDATE batches SET completed = completed + (NOT $4::boolean)::integer, failed = failed + ($4::boolean)::integer,
                     result_bytes = result_bytes + octet_length($5::bytea),
                     input_tokens = least(input_tokens + $6::numeric, ${mostTokens}), output_tokens = least(output_tokens + $7::numeric, ${mostTokens})
   WHERE id = (SELECT batch_id FROM done) RETURNING id`

const logged = `
  SELECT outcome = 'complete' AND status < 300 AS whole FROM logs
   WHERE id = $1 AND created_at BETWEEN to_timestamp($2::float8) AND to_timestamp($3::float8)`

/** A line that a former process may have begun keeps the beginning of its log. */
const release = `
  UPDATE batch_lines SET state = 'waiting', runner = NULL, free_at = '-infinity', attempts = attempts - 1,
                         begun_ms = CASE WHEN attempts - failures > 1 THEN begun_ms END
   WHERE batch_id = $1 AND line = ANY ($2::integer[]) AND runner = $3 AND state = 'running'`
