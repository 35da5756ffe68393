import test from 'ava'
import type { Client } from 'pg'
import { inDatabase, testDatabase } from '../../support/database.ts'

const leaves = `
  SELECT c.oid::regclass::text AS name, c.relispartition AS partition, p.inhparent::regclass::text AS parent FROM pg_class c LEFT JOIN pg_inherits p ON p.inhrelid = c.oid
   WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`

interface Leaf {
  readonly name: string
  readonly partition: boolean
  readonly parent: string | null
}

/** Drops the constraints of every table, so that a row of its defaults can stand in it. */
const loosen = `DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT conrelid::regclass AS name, conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'c') AND coninhcount = 0 LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.name, found.conname);
  END LOOP;
  FOR found IN SELECT conrelid::regclass AS name, conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'p' AND coninhcount = 0 LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.name, found.conname);
  END LOOP;
  FOR found IN SELECT a.attrelid::regclass AS name, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND attnum > 0 AND attnotnull AND attidentity = '' AND NOT attisdropped
    ORDER BY c.relispartition LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', found.name, found.attname);
  END LOOP; END $$`

async function fill(client: Client, { name, partition, parent }: Leaf): Promise<void> {
  const columns = partition ? (parent === 'cached_answers' ? '(expires_at)' : '(created_at)') : null
  await client.query(`INSERT INTO ${name} ${columns === null ? 'DEFAULT VALUES' : `${columns} VALUES (now())`}`)
}

test('the scope of the system sees every row of every table by its own name, as pg_dump reads it, and no other scope does', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const filled = await inDatabase(database.superuser, async (client) => {
    await client.query('SET session_replication_role = replica')
    await client.query(`SELECT ensure_log_partitions((now() AT TIME ZONE 'UTC')::date), ensure_answer_partition(now())`)
    await client.query(loosen)
    const { rows } = await client.query<Leaf>(leaves)
    for (const leaf of rows) await fill(client, leaf)
    const counted: { readonly name: string; readonly rows: number; readonly walled: boolean }[] = []
    for (const { name } of rows) {
      const { rows: found } = await client.query<{ n: number; walled: boolean }>(
        `SELECT count(*)::int AS n, (SELECT relrowsecurity FROM pg_class WHERE oid = '${name}'::regclass) AS walled FROM ${name}`,
      )
      counted.push({ name, rows: found[0]?.n ?? 0, walled: found[0]?.walled === true })
    }
    return counted
  })
  t.true(filled.length > 40)
  t.deepEqual(
    filled.filter(({ rows }) => rows === 0),
    [],
  )

  const { host, port, user, password, name } = database.config
  const asOwner = (scope: string) =>
    inDatabase({ host, port, user, password: password?.reveal(), database: name, options: `-c app.scope=${scope}` }, async (client) => {
      const seen: { name: string; rows: number }[] = []
      for (const table of filled) {
        const { rowCount } = await client.query(`SELECT FROM ${table.name}`)
        seen.push({ name: table.name, rows: rowCount ?? 0 })
      }
      return seen
    })
  t.deepEqual(
    await asOwner('system'),
    filled.map(({ name: table, rows }) => ({ name: table, rows })),
  )
  const walled = new Set(filled.filter((table) => table.walled).map((table) => table.name))
  t.deepEqual(
    (await asOwner('none')).filter((table) => walled.has(table.name) && table.rows > 0),
    [],
  )
})

test('a search in a partition keeps its index beside the policy for the whole', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const { host, port, user, password, name } = database.config
  const plan = await inDatabase({ host, port, user, password: password?.reveal(), database: name }, async (client) => {
    await client.query(`SELECT ensure_log_partitions('2026-01-02')`)
    await client.query(`SELECT set_config('app.organisation_id', gen_random_uuid()::text, false), set_config('app.log_words', '{1}', false),
      set_config('app.log_words_cut', '{2}', false), set_config('enable_seqscan', 'off', false), set_config('enable_indexscan', 'off', false)`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>('EXPLAIN SELECT id FROM log_words_20260102')
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
  t.regex(plan, /Bitmap Index Scan/)
  t.notRegex(plan, /app_is_planned_for_system/)
})
