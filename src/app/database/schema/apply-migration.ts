import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { codeOf } from '../connection-error.ts'
import { isLockTrouble } from '../lock-trouble.ts'
import type { MigrationFile } from './migration-files.ts'

/** How migrations are applied. */
export interface Run {
  readonly worker: Client
  readonly log: Logger
  readonly options: ApplyOptions
}

export interface ApplyOptions {
  /** Ends a wait, and the work before its next statement: the uncommitted part of a transaction is undone, and is run again. */
  readonly signal?: AbortSignal
  /** Called before each statement. */
  readonly onStatement?: (at: {
    readonly migration: string
    readonly statement: number
    readonly backendPid: number
  }) => void | Promise<void>
}

/** Makes the table of applied migrations. */
export const createTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), duration_ms integer NOT NULL)`

/** Returns the migrations that this database has. Throws if a file no longer matches the checksum of its entry. */
export async function readApplied(client: Client, files: readonly MigrationFile[]): Promise<ReadonlySet<string>> {
  const { rows: tables } = await client.query<{ present: boolean }>(`SELECT to_regclass('schema_migrations') IS NOT NULL AS present`)
  if (tables[0]?.present !== true) return new Set()
  const { rows } = await client.query<{ id: string; checksum: string }>('SELECT id, checksum FROM schema_migrations')
  const applied = new Map(rows.map(({ id, checksum }) => [id, checksum]))
  const changed = files.find(({ id, checksum }) => (applied.get(id) ?? checksum) !== checksum)
  if (changed === undefined) return new Set(applied.keys())
  throw new Error(
    `migration ${changed.id} was changed after it had been applied to this database: restore the file, and put the change into a new one`,
  )
}

const maxAttempts = 30

/**
 * How long DDL waits for a lock. Every request behind it in the queue waits too, so it must end well before a request gives up
 * (`limits.lock_timeout`).
 */
export const patience = `SET lock_timeout = '1s'`

/** DDL behind a long transaction gives up its place in the queue, so that it does not stop the traffic behind it, and tries again. */
export async function applyWithRetries(file: MigrationFile, run: Run): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    try {
      await (file.transactional ? applyInTransaction(file, run) : applyStepwise(file, run))
      run.log.info({ migration: file.id, durationMs: Math.round(performance.now() - startedAt) }, 'migration applied')
      return
    } catch (error) {
      if (!isLockTrouble(error) || attempt === maxAttempts) throw error
      run.log.warn({ migration: file.id, attempt }, 'a table is locked by other work; trying again')
      const { signal } = run.options
      await sleep(Math.min(250 * 2 ** attempt, 10_000), undefined, signal === undefined ? {} : { signal })
    }
  }
}

/** The file's own row comes first: should the lock ever fail us, a second migrator waits at the primary key and then fails, instead of applying twice. */
async function applyInTransaction(file: MigrationFile, run: Run): Promise<void> {
  const { worker } = run
  await worker.query('BEGIN')
  try {
    await record(file, worker)
    await runStatements(file, run)
    await worker.query(
      'UPDATE schema_migrations SET duration_ms = extract(epoch FROM clock_timestamp() - applied_at) * 1000 WHERE id = $1',
      [file.id],
    )
    await worker.query('COMMIT')
  } catch (error) {
    await worker.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** For CREATE INDEX CONCURRENTLY, which blocks no other work while it waits for older transactions, so that no time limit is needed. */
async function applyStepwise(file: MigrationFile, run: Run): Promise<void> {
  const startedAt = performance.now()
  await run.worker.query('SET lock_timeout = 0')
  await dropInvalidIndexes(file, run.worker)
  await runStatements(file, run)
  await record(file, run.worker, performance.now() - startedAt)
  await run.worker.query(patience)
}

const record = (file: MigrationFile, worker: Client, durationMs = 0) =>
  worker.query('INSERT INTO schema_migrations (id, checksum, duration_ms) VALUES ($1, $2, $3)', [
    file.id,
    file.checksum,
    Math.round(durationMs),
  ])

async function runStatements(file: MigrationFile, { worker, options }: Run): Promise<void> {
  const backendPid = options.onStatement === undefined ? 0 : await ownPid(worker)
  for (const [statement, { text, line }] of file.statements.entries()) {
    options.signal?.throwIfAborted()
    await options.onStatement?.({ migration: file.id, statement, backendPid })
    try {
      await worker.query(text)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      throw Object.assign(new Error(`migration ${file.id} failed at line ${line}: ${detail}`, { cause: error }), { code: codeOf(error) })
    }
  }
}

/** An index whose concurrent build was cut off stays behind, invalid, and would satisfy IF NOT EXISTS. Only those that this file builds are ours to drop. */
async function dropInvalidIndexes(file: MigrationFile, worker: Client): Promise<void> {
  const names = file.statements.flatMap(({ text }) => /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS "?(\w+)/i.exec(text)?.[1] ?? [])
  const { rows } = await worker.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid AND indexrelid = ANY (SELECT to_regclass(quote_ident(n)) FROM unnest($1::text[]) n)',
    [names],
  )
  for (const { name } of rows) await worker.query(`DROP INDEX CONCURRENTLY ${name}`)
}

async function ownPid(worker: Client): Promise<number> {
  const { rows } = await worker.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}
