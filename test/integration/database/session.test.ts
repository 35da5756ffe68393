import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { toCallerError } from '../../../src/app/http/errors.ts'
import { asSystem, inTenant, openOrm } from '../../../src/app/database/orm.ts'
import { migrate } from '../../../src/app/database/schema/migrate.ts'
import { sessionPool } from '../../../src/app/database/session.ts'
import { BootRefusal } from '../../../src/app/boot-refusal.ts'
import { systemSession } from '../../../src/app/database/side-sessions.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { adminKey, startGatehouse, workspaceKey } from '../../support/process.ts'
import { inDatabase, silent, testDatabase } from '../../support/database.ts'
import { pgbouncerFile, startPgbouncer } from '../../support/pgbouncer.ts'

const facts = `SELECT current_setting('app.scope', true) AS scope, current_setting('statement_timeout') AS ms, current_setting('DateStyle') AS dates,
  current_setting('TimeZone') AS zone, current_setting('transaction_isolation') AS isolation, current_setting('transaction_read_only') AS ro,
  current_setting('search_path') AS path`
const expected = { scope: 'system', ms: '2s', dates: 'ISO, MDY', zone: 'UTC', isolation: 'read committed', ro: 'off', path: 'public' }

/** Defaults that an administrator may give a database or a role. */
const defaults = [
  `DateStyle = 'SQL, DMY'`,
  `DateStyle = 'German'`,
  `TimeZone = 'Pacific/Chatham'`,
  `IntervalStyle = 'sql_standard'`,
  `bytea_output = 'escape'`,
  `extra_float_digits = -15`,
  `search_path = pg_catalog`,
  `search_path = nothing, public`,
  `statement_timeout = '20ms'`,
  `lock_timeout = '1ms'`,
  `default_transaction_isolation = 'serializable'`,
  `default_transaction_read_only = on`,
  `row_security = off`,
  `standard_conforming_strings = off`,
  `transform_null_equals = on`,
]

for (const setting of defaults)
  test.serial(`a default of the database changes no session: ${setting}`, async (t) => {
    const database = await testDatabase()
    t.teardown(database.drop)
    await inDatabase(database.superuser, (client) => client.query(`ALTER DATABASE ${database.config.name} SET ${setting}`))
    const { login, runtime } = await connect(database.config, silent)
    t.deepEqual(await migrate(login, silent), [])
    const pool = sessionPool({ ...systemSession(runtime), max: 1 })
    t.deepEqual((await pool.query(facts)).rows, [expected])
    await pool.end()
    const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
    t.teardown(() => orm.close(true))
    const organisationId = uuidv7()
    await asSystem(orm, (em) =>
      em.execute('INSERT INTO organisations (id, slug, name) VALUES (?, ?, ?)', [organisationId, organisationId, "It's"]),
    )
    const rows = await inTenant(orm, organisationId, (em) =>
      em.execute<{ name: string; at: Date }[]>(`SELECT name, created_at AS at FROM organisations`),
    )
    t.is(rows.length, 1)
    t.is(rows[0]?.name, "It's")
    t.true(Math.abs(new Date(rows[0]?.at ?? 0).getTime() - Date.now()) < 3_600_000)
  })

const withPgbouncer = pgbouncerFile === null ? test.serial.skip : test.serial
const skipped = pgbouncerFile === null ? 'SKIPPED, there is no pgbouncer on this machine: ' : ''

for (const ignoreOptions of [true, false])
  withPgbouncer(
    `${skipped}behind a pgbouncer in session mode keys are known, when it ${ignoreOptions ? 'drops' : 'refuses'} options`,
    async (t) => {
      const database = await testDatabase()
      t.teardown(database.drop)
      const pooled = await startPgbouncer(t, database.config, { mode: 'session', ignoreOptions, poolSize: 40 })
      const gatehouse = await startGatehouse({ on: { ...database, config: pooled } })
      t.teardown(() => gatehouse.stop())
      for (const key of [adminKey, workspaceKey]) {
        const answer = await fetch(`${gatehouse.origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
        t.not(answer.status, 401, await answer.text())
      }
    },
  )

withPgbouncer(`${skipped}a pgbouncer in transaction mode refuses the start with its name, and keeps no lock`, async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const pooled = await startPgbouncer(t, database.config, { mode: 'transaction' })
  const error = await t.throwsAsync(connect(pooled, silent), { instanceOf: BootRefusal })
  t.regex(error.message, /^PgBouncer [\d.]+ in transaction mode stands before PostgreSQL at 127\.0\.0\.1:\d+: set DB_HOST/)
  const locks = await inDatabase(database.superuser, (client) =>
    client.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    ),
  )
  t.is(locks.rowCount, 0)
})

test('a connection that answers as a standby is closed, and its pool goes on with another; callers get 503', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const { runtime } = await connect(database.config, silent)
  for (const [code, raise] of [
    ['25006', 'read_only_sql_transaction'],
    ['57P02', 'crash_shutdown'],
    ['08006', 'connection_failure'],
    ['28P01', 'invalid_password'],
  ]) {
    const pool = sessionPool({ ...runtime, max: 1 })
    const pid = async () => (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid
    const before = await pid()
    const held = await pool.connect()
    const error = await t.throwsAsync(held.query(`DO $$ BEGIN RAISE ${raise}; END $$`))
    t.is(Reflect.get(error ?? {}, 'code'), code)
    const told = toCallerError(error)
    t.deepEqual([told.code, told.status], ['dependency_unavailable', 503])
    await new Promise((resolve) => held.once('end', resolve))
    held.release()
    t.not(await pid(), before)
    await pool.end()
  }
})

test('a write on a standby closes its connection within a transaction of the ORM too', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  t.teardown(() => orm.close(true))
  const pid = () => asSystem(orm, async (em) => (await em.execute<{ pid: number }[]>('SELECT pg_backend_pid() AS pid'))[0]?.pid)
  const before = await pid()
  const error = await t.throwsAsync(
    asSystem(orm, async (em) => {
      await em.execute('SET TRANSACTION READ ONLY')
      await em.execute('DELETE FROM outgoing_mails')
    }),
  )
  t.is(toCallerError(error).code, 'dependency_unavailable')
  t.not(await pid(), before)
})

test('a password that is changed in its file holds for the next connection', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-password-')), 'password')
  writeFileSync(file, 'not the right one\n')
  chmodSync(file, 0o600)
  const config = { ...database.config, password: new Secret('as it was at the start'), passwordFile: file }
  await t.throwsAsync(connect(config, silent), { message: /refused the login/ })
  writeFileSync(file, `${database.config.password?.reveal()}\n`)
  const { runtime } = await connect(config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  t.teardown(() => orm.close(true))
  t.deepEqual(await asSystem(orm, (em) => em.execute('SELECT 1 AS one')), [{ one: 1 }])
})
