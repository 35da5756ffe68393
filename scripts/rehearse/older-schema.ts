import { cp } from 'node:fs/promises'
import type { Client } from 'pg'
import { migrate } from '../../src/app/database/migrate.ts'
import { inDatabase, silent } from '../../test/support/database.ts'
import { createInstallation, loginOf, type Installation } from './installation.ts'

/** What the migrations themselves write. */
const kept = ['schema_migrations', 'release_state', 'release_history', 'backfill_state']

/**
 * The same installation as its release would have left it: its data in the schema of that release. This checkout's code made the
 * data, and needs the columns of later releases; so the data is carried over without them.
 */
export async function inOlderSchema(
  newer: Installation,
  { release, directory }: { readonly release: string; readonly directory: string },
): Promise<Installation> {
  const older = await createInstallation()
  try {
    await cp(newer.dataDir, older.dataDir, { recursive: true })
    await migrate(loginOf(older), silent, { directory, deployment: { release } })
    await inDatabase(newer.database.superuser, (from) => inDatabase(older.database.superuser, (to) => carryOver(from, to)))
    return older
  } catch (error) {
    await older.remove()
    throw error
  }
}

async function carryOver(from: Client, to: Client): Promise<void> {
  const [has, takes] = [await columnsOf(from), await columnsOf(to)]
  await to.query(`SET session_replication_role = replica; TRUNCATE ${[...takes.keys()].join(', ')}`)
  // The processes make partitions as days come; migrations make none.
  const { rows: days } = await from.query<{ day: string }>('SELECT DISTINCT created_at::date::text AS day FROM logs')
  for (const { day } of days) await to.query('SELECT ensure_log_partitions($1::date)', [day])
  for (const [table, columns] of takes) {
    const common = columns.filter((column) => has.get(table)?.includes(column)).join(', ')
    if (common === '') continue
    const { rows } = await from.query<{ data: string }>(
      `SELECT coalesce(json_agg(t), '[]')::text AS data FROM (SELECT ${common} FROM ${table}) t`,
    )
    await to.query(
      `INSERT INTO ${table} (${common}) OVERRIDING SYSTEM VALUE SELECT ${common} FROM json_populate_recordset(NULL::${table}, $1)`,
      [rows[0]?.data],
    )
  }
  const { rows: sequences } = await from.query<{ name: string; value: string | null }>(
    `SELECT format('%I', sequencename) AS name, last_value::text AS value FROM pg_sequences WHERE schemaname = 'public'`,
  )
  for (const { name, value } of sequences)
    if (value !== null) await to.query('SELECT setval(to_regclass($1), $2::bigint) WHERE to_regclass($1) IS NOT NULL', [name, value])
}

/** The columns of each table that rows can be written to. */
async function columnsOf(client: Client): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `SELECT c.oid::regclass::text AS name, array_agg(quote_ident(attname) ORDER BY attnum) AS columns
       FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
      WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace AND relname <> ALL ($1)
      GROUP BY 1`,
    [kept],
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}
