import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Client, ClientConfig } from 'pg'
import pino from 'pino'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { migrate, pendingMigrations } from '../../../src/app/database/schema/migrate.ts'
import { inDatabase, silent, testDatabase } from '../../support/database.ts'
import { startPooler } from '../../support/pooler.ts'
import { describeSchema } from '../../support/schema.ts'

/** An empty database and the plain login that owns it. */
async function emptyDatabase(t: ExecutionContext): Promise<ClientConfig> {
  const { config, drop } = await testDatabase({ empty: true })
  t.teardown(drop)
  return { host: config.host, port: config.port, user: config.user, password: config.password?.reveal(), database: config.name }
}

/** A folder of migrations, each given as name and SQL. */
async function folderOf(t: ExecutionContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-migrations-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'v01.00.00'))
  await Promise.all(Object.entries(files).map(([name, sql]) => writeFile(join(folder, 'v01.00.00', `${name}.sql`), sql)))
  return folder
}

const query = <Row extends object>(client: ClientConfig, sql: string) =>
  inDatabase(client, async (connected) => (await connected.query<Row>(sql)).rows)

const schemaOf = (client: ClientConfig) => inDatabase(client, describeSchema)

type Phase = Awaited<ReturnType<typeof readMigrations>>[number]['phase']
const filesOf = async (phase: Phase) => (await readMigrations()).filter((file) => file.phase === phase)

/** The files for a new database: contract steps come last, and no rows need a backfill. */
const newDatabase = async () => [...(await filesOf('expand')), ...(await filesOf('contract'))]
const allIds = async () => (await newDatabase()).map(({ id }) => id)
/** Files that can be pending. */
const expandIds = async () => (await filesOf('expand')).map(({ id }) => id)

test('applies everything once, in order, and then finds nothing to do', async (t) => {
  const client = await emptyDatabase(t)
  t.deepEqual(await pendingMigrations(client), await expandIds())
  t.deepEqual(await migrate(client, silent), await allIds())
  t.deepEqual(await migrate(client, silent), [])
  t.deepEqual(await pendingMigrations(client), [])
  const rows = await query<{ complete: boolean }>(
    client,
    `SELECT checksum ~ '^[0-9a-f]{64}$' AND duration_ms >= 0 AND applied_at < now() AS complete FROM schema_migrations`,
  )
  t.true(rows.every(({ complete }) => complete))
})

const starters = test.macro({
  async exec(t, count: number, rounds: number) {
    t.timeout(60_000)
    for (let round = 0; round < rounds; round += 1) {
      const client = await emptyDatabase(t)
      const applied = await Promise.all(Array.from({ length: count }, () => migrate(client, silent)))
      t.deepEqual(applied.flat().toSorted(), (await allIds()).toSorted())
      t.deepEqual(await pendingMigrations(client), [])
    }
  },
  title: (_, count: number) => `${count} starters at once on an empty database apply each migration once`,
})
test(starters, 2, 5)
test(starters, 5, 5)

test('a migration that was changed after it was applied is refused by name', async (t) => {
  const client = await emptyDatabase(t)
  const before = await folderOf(t, { '001-a': '-- phase: expand\nCREATE TABLE a ();' })
  const after = await folderOf(t, { '001-a': '-- phase: expand\nCREATE TABLE a (id int);' })
  await migrate(client, silent, { directory: before })
  await t.throwsAsync(migrate(client, silent, { directory: after }), {
    message: /v01\.00\.00\/001-a was changed after it had been applied/,
  })
})

test('a failing statement is named by file and line, and nothing of its file stays', async (t) => {
  const client = await emptyDatabase(t)
  const directory = await folderOf(t, { '001-a': '-- phase: expand\n-- Why.\nCREATE TABLE a ();\n\nCREATE TABLE b (\n  id nonsense);' })
  await t.throwsAsync(migrate(client, silent, { directory }), { message: /001-a failed at line 5: type "nonsense" does not exist/ })
  t.deepEqual(await query(client, `SELECT to_regclass('a') AS a, count(*)::int AS applied FROM schema_migrations`), [
    { a: null, applied: 0 },
  ])
})

test('contract files wait for finalize, and a file without a phase is refused', async (t) => {
  const client = await emptyDatabase(t)
  const directory = await folderOf(t, { '001-a': '-- phase: expand\nCREATE TABLE a ();', '002-b': '-- phase: contract\nDROP TABLE a;' })
  t.deepEqual(await migrate(client, silent, { directory }), ['v01.00.00/001-a'])
  await t.throwsAsync(migrate(client, silent, { directory: await folderOf(t, { '001-a': 'SELECT 1;' }) }), {
    message: /must begin with "-- phase/,
  })
})

test('a waiter does not block CREATE INDEX CONCURRENTLY, and says who holds the lock', async (t) => {
  const client = await emptyDatabase(t)
  const directory = await folderOf(t, {
    '001-a': '-- phase: expand\nCREATE TABLE a (id int);',
    '002-b': '-- phase: expand\n-- transactional: false\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_id ON a (id);',
  })
  const messages: string[] = []
  const told = Promise.withResolvers<void>()
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void (messages.push(line), line.includes('waiting for') && told.resolve()) },
  )
  const entered = Promise.withResolvers<void>()
  const first = migrate(client, silent, {
    directory,
    onStatement: async ({ migration }) => {
      entered.resolve()
      if (migration.endsWith('002-b')) await told.promise
    },
  })
  await entered.promise
  const second = migrate(client, log, { directory })
  t.is((await first).length, 2)
  t.deepEqual(await second, [])
  t.regex(messages.join(''), /waiting for server process \d+ from 127\.0\.0\.1, connected for \d+ s/)
})

test('a locked table is tried again, and the traffic behind it is let through meanwhile', async (t) => {
  const client = await emptyDatabase(t)
  await query(client, 'CREATE TABLE a (id int)')
  const directory = await folderOf(t, { '001-a': '-- phase: expand\nALTER TABLE a ADD COLUMN b int;' })
  await inDatabase(client, async (holder) => {
    await holder.query('BEGIN; SELECT FROM a')
    const retried = Promise.withResolvers<void>()
    const log = pino({ level: 'warn' }, { write: (line: string) => void (line.includes('locked by other work') && retried.resolve()) })
    const run = migrate(client, log, { directory })
    await retried.promise
    await query(client, 'INSERT INTO a VALUES (1)')
    await holder.query('COMMIT')
    t.deepEqual(await run, ['v01.00.00/001-a'])
  })
})

test('a pooler in transaction mode is refused, because a lock does not stay with its connection there', async (t) => {
  const client = await emptyDatabase(t)
  const port = await startPooler(t, client)
  await t.throwsAsync(migrate({ ...client, port }, silent), { message: /connection pooler in transaction mode.*set DB_HOST and DB_PORT/ })
  t.deepEqual(await query(client, `SELECT to_regclass('schema_migrations') AS made`), [{ made: null }])
})

test('loses its lock: stops, and leaves nothing half-done', async (t) => {
  const client = await emptyDatabase(t)
  const killed = migrate(client, silent, {
    onStatement: async ({ statement }) => {
      if (statement !== 3) return
      await query(
        client,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'gatehouse-migrate' AND datname = current_database()`,
      )
      // The keeper's end arrives as an event of its own; the worker is idle in its transaction until then.
      await sleep(50)
    },
  })
  await t.throwsAsync(killed)
  t.deepEqual(await migrate(client, silent), await allIds())
})

/** The first, the last and one between; `npm run rehearse -- --pairs all` cuts at every one. */
const samples = (length: number) => [...new Set([0, Math.floor(length / 2), length - 1])].filter((index) => index >= 0)

test('its connection cut within each migration, the next run gets past it, and the schema equals a clean one', async (t) => {
  t.timeout(60_000)
  const [clean, client] = [await emptyDatabase(t), await emptyDatabase(t)]
  await migrate(clean, silent)
  await inDatabase(client, async (watcher) => {
    for (const { id, statements } of await newDatabase()) {
      for (const index of samples(statements.length)) {
        await t.throwsAsync(migrate(client, silent, { onStatement: terminateAt({ id, index }, watcher) }), undefined, `${id} ${index}`)
        t.deepEqual((await watcher.query('SELECT id FROM schema_migrations WHERE id = $1', [id])).rows, [])
      }
    }
  })
  await migrate(client, silent)
  t.deepEqual(await schemaOf(client), await schemaOf(clean))
})

const terminateAt =
  (at: { readonly id: string; readonly index: number }, watcher: Client) =>
  async ({ migration, statement, backendPid }: { readonly migration: string; readonly statement: number; readonly backendPid: number }) => {
    if (migration === at.id && statement === at.index) await watcher.query('SELECT pg_terminate_backend($1, 5000)', [backendPid])
  }

test('told to end, it stops before its next statement; what was complete stays, and the next run goes on', async (t) => {
  const [client, clean] = [await emptyDatabase(t), await emptyDatabase(t)]
  const all = await allIds()
  const cut = all.find((id) => id > 'v01.03.00/005') ?? ''
  const told = new AbortController()
  const seen: string[] = []
  const onStatement = ({ migration, statement }: { readonly migration: string; readonly statement: number }) => {
    seen.push(`${migration} ${statement}`)
    if (migration === cut) told.abort()
  }
  await t.throwsAsync(migrate(client, silent, { onStatement, signal: told.signal }), { name: 'AbortError' })
  t.is(seen.at(-1), `${cut} 0`)
  t.deepEqual(await pendingMigrations(client), (await expandIds()).slice(all.indexOf(cut)))
  await migrate(clean, silent)
  t.deepEqual(await migrate(client, silent), all.slice(all.indexOf(cut)))
  t.deepEqual(await schemaOf(client), await schemaOf(clean))
})

test('killed with SIGKILL, the next run repairs', async (t) => {
  t.timeout(60_000)
  const clean = await emptyDatabase(t)
  await migrate(clean, silent)
  const expected = await schemaOf(clean)
  const last = (await newDatabase()).reduce((sum, { statements }) => sum + statements.length, 0) - 1
  for (const killAt of [0, Math.floor(last / 3), Math.floor((2 * last) / 3), last]) {
    const client = await emptyDatabase(t)
    const child = spawn(process.execPath, [
      join(import.meta.dirname, '../../support/migrate-process.ts'),
      JSON.stringify(client),
      String(killAt),
    ])
    const [, signal] = await once(child, 'exit')
    t.is(signal, 'SIGKILL')
    await migrate(client, silent)
    t.deepEqual(await schemaOf(client), expected, `statement ${killAt}`)
  }
})

const cutBuild = test.macro({
  async exec(t, cutAt: number, index: string) {
    const client = await emptyDatabase(t)
    const directory = await folderOf(t, {
      '001-a': '-- phase: expand\nCREATE TABLE a (id int);',
      '002-b':
        '-- phase: expand\n-- transactional: false\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_id ON a (id);\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_twice ON a ((id * 2));',
    })
    await inDatabase(client, async (holder) => {
      // An open transaction makes the build wait, and there it is cut.
      const onStatement = async ({ migration, statement }: { readonly migration: string; readonly statement: number }) => {
        if (migration.endsWith('002-b') && statement === cutAt) await holder.query('BEGIN; LOCK TABLE a IN ROW EXCLUSIVE MODE')
      }
      const failure = t.throwsAsync(migrate(client, silent, { directory, onStatement }), { message: /002-b failed at line/ })
      await inDatabase(client, (killer) => terminateBuild(killer, index))
      await failure
      await holder.query('COMMIT')
    })
    const validity = 'SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index ORDER BY indexrelid DESC LIMIT 1'
    t.deepEqual(await query(client, validity), [{ name: index, valid: false }])
    t.deepEqual(await migrate(client, silent, { directory }), ['v01.00.00/002-b'])
    t.deepEqual(
      await query(
        client,
        `SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index WHERE indrelid = 'a'::regclass ORDER BY 1`,
      ),
      [
        { name: 'a_id', valid: true },
        { name: 'a_twice', valid: true },
      ],
    )
  },
  title: (_, __, index: string) => `a concurrent build that was cut off leaves an invalid index, which the next run builds anew: ${index}`,
})
test(cutBuild, 0, 'a_id')
test(cutBuild, 1, 'a_twice')

async function terminateBuild(killer: Client, index: string): Promise<void> {
  for (;;) {
    const { rows } = await killer.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' || $1 || '%' AND wait_event_type = 'Lock' AND datname = current_database()`,
      [index],
    )
    if (rows.length > 0) return
    await sleep(10)
  }
}

test('a superuser login makes the role that the running process steps down to, also when two databases do so at once', async (t) => {
  const databases = await Promise.all([1, 2, 3].map(() => testDatabase({ empty: true, asSuperuser: true })))
  t.teardown(() => Promise.all(databases.map(({ drop }) => drop())))
  await Promise.all(databases.map(({ superuser }) => migrate(superuser, silent)))
  for (const { superuser } of databases) {
    const rows = await query(
      superuser,
      `SELECT rolsuper OR rolbypassrls OR rolcanlogin AS strong, has_table_privilege(oid, 'api_keys', 'INSERT, UPDATE, DELETE') AS writes,
              has_table_privilege(oid, 'schema_migrations', 'INSERT') AS migrates, has_table_privilege(oid, 'api_keys', 'TRUNCATE') AS truncates
         FROM pg_roles WHERE rolname = 'gatehouse_app'`,
    )
    t.deepEqual(rows, [{ strong: false, writes: true, migrates: false, truncates: false }])
  }
})
