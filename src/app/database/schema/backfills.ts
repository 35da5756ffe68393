import type { Client } from 'pg'
import { z } from 'zod'
import type { MigrationFile } from './migration-files.ts'
import { hasReleaseState } from './release-state.ts'

/** How far a backfill has come. */
export interface Backfill {
  readonly id: string
  /** The release that brings it. */
  readonly release: string
  readonly state: 'running' | 'paused' | 'done'
  /** Rows so far. */
  readonly processed: number
  /** The most rows a second. */
  readonly rate: number
  /** Why the last batch failed; it is tried again. */
  readonly error: string | null
  readonly updatedAt: Date
}

interface Row {
  readonly id: string
  readonly paused: boolean
  readonly done: boolean
  readonly processed: string
  readonly rate: number
  readonly error: string | null
  readonly updated_at: Date
}

/** The backfills that the database lists, in order. */
export async function readBackfills(client: Client, files: readonly MigrationFile[]): Promise<readonly Backfill[]> {
  if (!(await hasReleaseState(client))) return []
  const { rows } = await client.query<Row>(
    'SELECT id, paused, done, processed::text AS processed, rate, error, updated_at FROM backfill_state ORDER BY id COLLATE "C"',
  )
  const known = new Map(files.map(({ id, release }) => [id, release]))
  return rows.map(({ id, paused, done, processed, rate, error, updated_at: updatedAt }) => ({
    id,
    release: known.get(id) ?? '',
    state: done ? 'done' : paused ? 'paused' : 'running',
    processed: Number(processed),
    rate,
    error,
    updatedAt,
  }))
}

/** Holds backfills, or lets them go on; all that are not done when no id is given. Gives the ids that this was about. */
export async function steerBackfills(
  client: Client,
  id: string | null,
  change: { readonly paused: boolean; readonly rate?: number },
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE backfill_state SET paused = $2, rate = coalesce($3, rate), updated_at = now() WHERE NOT done AND ($1::text IS NULL OR id = $1)
     RETURNING id`,
    [id, change.paused, change.rate ?? null],
  )
  return rows.map((row) => row.id).toSorted()
}

/** The result of one batch; null if there was no work, because the backfill is done, held or unknown. */
export interface Batch {
  readonly processed: number
  readonly done: boolean
  readonly rate: number
}

const largestBatch = 1000

/**
 * One batch, in one transaction with the place where the next one begins, so that a batch which was cut off is as if it never
 * was, and none runs twice. A batch without rows is the end.
 */
export async function runBatch(client: Client, { id, statements }: MigrationFile): Promise<Batch | null> {
  await client.query('BEGIN')
  try {
    await client.query("SELECT set_config('app.scope', 'system', true)")
    const { rows } = await client.query<{ cursor: string | null; rate: number }>(
      'SELECT cursor, rate FROM backfill_state WHERE id = $1 AND NOT done AND NOT paused FOR UPDATE',
      [id],
    )
    const [at] = rows
    const batch = at === undefined ? null : await fill(client, { id, sql: statements[0]?.text ?? '', ...at })
    await client.query('COMMIT')
    return batch
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

interface Fill {
  readonly id: string
  readonly sql: string
  readonly cursor: string | null
  readonly rate: number
}

/** The answer of a backfill's statement. */
const Answer = z.tuple([z.object({ cursor: z.string().nullable(), processed: z.coerce.number().int().nonnegative() })])

async function fill(client: Client, { id, sql, cursor, rate }: Fill): Promise<Batch> {
  const { rows } = await client.query<Record<string, unknown>>(sql, [cursor, Math.min(largestBatch, rate)])
  const answer = Answer.safeParse(rows)
  if (!answer.success)
    throw new Error(`the backfill ${id} must answer one row of "cursor" (text) and "processed" (rows): ${answer.error.message}`)
  const [{ cursor: next, processed }] = answer.data
  const done = processed === 0
  await client.query(
    `UPDATE backfill_state SET cursor = coalesce($2, cursor), processed = processed + $3, done = $4, error = NULL,
       started_at = coalesce(started_at, now()), updated_at = now() WHERE id = $1`,
    [id, next, processed, done],
  )
  return { processed, done, rate }
}

/** Notes why a batch failed. */
export const noteFailure = (client: Client, id: string, message: string) =>
  client.query('UPDATE backfill_state SET error = $2, updated_at = now() WHERE id = $1', [id, message])
