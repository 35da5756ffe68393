import type { Client } from 'pg'

/** A table whose rows belong to organisations, with the columns that can be written. */
export interface TenantTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** Every table with an organisation, of any feature; a partition is reached through its parent. */
const findTables = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
     AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity = ''
     AND EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'organisation_id' AND NOT o.attisdropped)
   GROUP BY c.relname ORDER BY c.relname`

/**
 * Gives each of so many new organisations a row in every table that belongs to organisations; returns the tables. Other constraints of rows (checks,
 * references) are switched off: this is about their owners.
 */
export async function fillTenantTables(client: Client, organisations: readonly string[]): Promise<readonly TenantTable[]> {
  await client.query('SET session_replication_role = replica')
  await client.query(`SELECT ensure_log_partitions(current_date::text::date), ensure_answer_partition(now())`)
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(findTables)
  for (const { name } of tables) await fill(client, name, organisations)
  return tables
}

async function fill(client: Client, table: string, organisations: readonly string[]): Promise<void> {
  const checks = await client.query<{ name: string }>(
    `SELECT quote_ident(conname) AS name FROM pg_constraint WHERE contype = 'c' AND conrelid = $1::regclass`,
    [table],
  )
  for (const { name } of checks.rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  const { rows: needed } = await client.query<{ name: string; type: string }>(neededColumns, [table])
  const values = needed.map(({ name, type }) => (name === (table === 'organisations' ? 'id' : 'organisation_id') ? 'o' : anyValue(type)))
  await client.query(
    `INSERT INTO ${table} (${needed.map(({ name }) => name).join(', ')}) SELECT ${values.join(', ')} FROM unnest($1::uuid[]) AS o`,
    [organisations],
  )
}

const neededColumns = `
  SELECT quote_ident(attname) AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
   WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
     AND attnotnull AND (NOT atthasdef OR attname = 'organisation_id')`

/** Some value of a type, another in every row where it can be. */
function anyValue(type: string): string {
  if (type.endsWith('[]')) return `'{}'`
  if (type === 'uuid') return 'gen_random_uuid()'
  if (type === 'text' || type.startsWith('character')) return `replace(gen_random_uuid()::text, '-', '')`
  if (type === 'bytea') return `decode(md5(random()::text), 'hex')`
  if (type === 'jsonb') return `'{}'`
  if (type === 'boolean') return 'true'
  return type.startsWith('timestamp') ? 'now()' : '1'
}
