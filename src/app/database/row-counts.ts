import type { Client } from 'pg'

/** The rows of one table; of a partitioned table, of one partition. */
export interface TableRows {
  /** With its schema, and quoted as PostgreSQL does it: `public.logs_20260102`. */
  readonly table: string
  /** The partitioned table that it belongs to; null: it is no partition. */
  readonly parent: string | null
  readonly rows: number
}

const tables = `
  SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, c.relkind = 'p' AS partitioned
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'schema_migrations'::regclass)
   ORDER BY 1`

/** A partition is counted through its parent, whose policy shows all rows to the scope of the system; the policies of the partition do not matter. */
const countPartitions = (parent: string) => `
  SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, coalesce(r.rows, 0)::float8 AS rows
    FROM pg_partition_tree('${parent.replaceAll("'", "''")}') p JOIN pg_class c ON c.oid = p.relid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN (SELECT tableoid, count(*) AS rows FROM ${parent} GROUP BY 1) r ON r.tableoid = c.oid
   WHERE p.isleaf ORDER BY 1`

/** Counts the rows of all tables of Gatehouse in one snapshot. */
export async function countRows(client: Client): Promise<readonly TableRows[]> {
  await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL app.scope = 'system'`)
  try {
    const { rows: found } = await client.query<{ name: string; partitioned: boolean }>(tables)
    const counted: TableRows[] = []
    for (const { name, partitioned } of found) {
      const sql = partitioned ? countPartitions(name) : `SELECT '' AS name, count(*)::float8 AS rows FROM ${name}`
      const { rows } = await client.query<{ name: string; rows: number }>(sql)
      const parent = partitioned ? name : null
      counted.push(...rows.map((row) => ({ table: partitioned ? row.name : name, parent, rows: row.rows })))
    }
    return counted
  } finally {
    await client.query('ROLLBACK').catch(() => {})
  }
}
