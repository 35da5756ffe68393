import test from 'ava'
import { Client } from 'pg'
import { openOrm } from '../../../../src/app/database/orm.ts'
import { connect } from '../../../../src/app/database/connect.ts'
import { openSidePool } from '../../../../src/app/database/side-pool.ts'
import { openVault } from '../../../../src/app/secrets/open-vault.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { testConfig } from '../../../support/app.ts'
import { gatehouseHere } from '../../../support/cli.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../../support/database.ts'
import { settingsFor, verdictOf } from '../../../support/preflight.ts'
import { freePort } from '../../../../src/app/database/embedded/port.ts'
import { besidesPool } from '../../../../src/config/side-sessions.ts'

let database: TestDatabase
test.before(async () => {
  database = await testDatabase()
})
test.after.always(async () => {
  await database?.drop()
})

/** A login of its own for one test, without any right but to connect. */
async function withLogin(options: string, work: (login: string) => Promise<void>): Promise<void> {
  const login = `gatehouse_p_${process.pid}_${Math.trunc(performance.now())}`
  await inDatabase(database.superuser, (client) => client.query(`CREATE ROLE ${login} LOGIN PASSWORD 'p' ${options}`))
  try {
    await work(login)
  } finally {
    await inDatabase(database.superuser, (client) => client.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`))
  }
}

test('a database as it should be', async (t) => {
  const env = settingsFor(t, database.config)
  t.regex((await verdictOf('postgres-connection', env)).detail, /^gatehouse_test at 127\.0\.0\.1:\d+\/gatehouse_t_\w+ answers in \d+ ms$/)
  t.regex((await verdictOf('postgres-version', env)).detail, /^PostgreSQL \d+\.\d+.* \(>=14 <19\)$/)
  t.deepEqual(await verdictOf('postgres-tls', env), { status: 'ok', detail: 'no TLS, on this machine (DB_SSL=DISABLED)' })
  t.deepEqual(await verdictOf('postgres-privileges', env), { status: 'ok', detail: 'gatehouse_test creates tables in public' })
  t.deepEqual(await verdictOf('postgres-pooling', env), { status: 'ok', detail: 'PostgreSQL is reached directly' })
  t.deepEqual(await verdictOf('schema', env), { status: 'ok', detail: 'the schema is that of this release' })
  t.like(await verdictOf('clock', env), { status: 'ok' })
  t.like(await verdictOf('postgres-connections', env), { status: 'ok' })
})

test('settings are judged at the level that is finalized in the database, by preflight and by env', async (t) => {
  const own = await testDatabase()
  t.teardown(() => own.drop())
  const env = { ...settingsFor(t, own.config), POLICY_ENABLED: 'OFF' }
  t.like(await verdictOf('settings', env), { status: 'ok' })
  await inDatabase(own.superuser, (client) => client.query(`UPDATE release_state SET level = '1.8.0'`))
  const note = 'POLICY_ENABLED has no effect: it comes with release 1.9.0, and the level of this installation is 1.8.0'
  const verdict = await verdictOf('settings', env)
  t.like(verdict, { status: 'warn', detail: note })
  t.regex(String(verdict.fix), /gatehouse finalize/)
  t.is((await gatehouseHere(['env', '--effective'], { env })).stderr, `warning: ${note}\n`)
  const away = { ...env, DB_PORT: String(await freePort()) }
  t.is((await gatehouseHere(['env', '--effective'], { env: away })).stderr, '')
})

test('a database that is not there fails one check, and the others say that they could not look', async (t) => {
  const env = { ...settingsFor(t, database.config), DB_PORT: String(await freePort()) }
  const { status, detail, fix } = await verdictOf('postgres-connection', env)
  t.is(status, 'fail')
  t.regex(detail, /^nothing listens at 127\.0\.0\.1:\d+: is PostgreSQL running, are DB_HOST and DB_PORT right\?$/)
  t.truthy(fix)
  t.deepEqual(await verdictOf('postgres-version', env), { status: 'skipped', detail: 'the database cannot be reached' })
})

test('privileges: a login that may not create, that does not own, that may only read', async (t) => {
  const as = (login: string) => settingsFor(t, { ...database.config, user: login, password: new Secret('p') })
  await withLogin('', async (login) => {
    const denied = await verdictOf('postgres-privileges', as(login))
    t.like(denied, { status: 'fail', detail: `${login} may not create tables in the schema public` })
    t.regex(denied.fix ?? '', new RegExp(`^Run: GRANT CREATE ON SCHEMA public TO "${login}"`))
    await inDatabase(database.superuser, (client) => client.query(`GRANT CREATE ON SCHEMA public TO ${login}`))
    const foreign = await verdictOf('postgres-privileges', as(login))
    t.is(foreign.status, 'fail')
    t.regex(foreign.detail, /does not own \w+, \w+, \w+ and \d+ more, and so cannot migrate them$/)
    await inDatabase(database.superuser, (client) => client.query(`ALTER ROLE ${login} SET default_transaction_read_only = on`))
    t.like(await verdictOf('postgres-privileges', as(login)), { status: 'fail', detail: 'every transaction of this login is read-only' })
    await inDatabase(database.superuser, (client) =>
      client.query(`ALTER ROLE ${login} RESET ALL; ALTER ROLE ${login} SET search_path = nowhere`),
    )
    t.like(await verdictOf('postgres-privileges', as(login)), {
      status: 'fail',
      detail: `the search_path of ${login} names no schema that exists`,
    })
  })
})

test('privileges: a login that bypasses row-level security needs the role to step down to', async (t) => {
  const empty = await testDatabase({ empty: true })
  t.teardown(empty.drop)
  await withLogin('BYPASSRLS', async (login) => {
    await inDatabase(empty.superuser, (client) => client.query(`GRANT ALL ON SCHEMA public TO ${login}`))
    t.teardown(() => {})
    const env = settingsFor(t, { ...empty.config, user: login, password: new Secret('p') })
    const { status, detail } = await verdictOf('postgres-privileges', env)
    t.is(status, 'fail')
    t.regex(detail, /bypasses row-level security, and may not make the role gatehouse_app/)
    await inDatabase(empty.superuser, (client) => client.query(`DROP OWNED BY ${login}`))
  })
})

test('a transaction that is open for long is named, with who holds it', async (t) => {
  const own = await testDatabase({ asSuperuser: true })
  t.teardown(own.drop)
  const holder = new Client({ ...own.superuser, application_name: 'a long report' })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN; SELECT 1')
  const env = settingsFor(t, own.config)
  const { status, detail, fix } = await verdictOf('postgres-long-transactions', env, { longestTransactionMs: 0 })
  t.is(status, 'warn')
  t.regex(detail, /^open transactions: \d+ of postgres from a long report, idle in transaction, for \d+ s/)
  t.regex(fix ?? '', /pg_terminate_backend/)
  t.like(await verdictOf('postgres-long-transactions', env), { status: 'ok', detail: 'no transaction is older than 60 s' })
})

test('a database that does not answer a question is no reason to wait for ever', async (t) => {
  const own = await testDatabase()
  t.teardown(own.drop)
  const holder = new Client(own.superuser)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE schema_migrations')
  const { status, detail } = await verdictOf('schema', settingsFor(t, own.config), { timeoutMs: 300 })
  t.is(status, 'fail')
  t.regex(detail, /Query read timeout|no result within 0\.9 s/)
})

test('too few free connections are a warning', async (t) => {
  const env = { ...settingsFor(t, database.config), DB_POOL_SIZE: '1000' }
  const { status, detail } = await verdictOf('postgres-connections', env)
  t.is(status, 'warn')
  t.regex(detail, new RegExp(`^only \\d+ of \\d+ connections are free, and one process takes up to ${1000 + besidesPool}$`))
})

test('schema: pending, newer, and edited migrations', async (t) => {
  const own = await testDatabase({ empty: true })
  t.teardown(own.drop)
  const env = settingsFor(t, own.config)
  t.regex((await verdictOf('schema', env)).detail, /^"gatehouse migrate" will apply \d+: v01\.03\.00\/001-tenancy, /)
  const migrated = await testDatabase()
  t.teardown(migrated.drop)
  const settings = settingsFor(t, migrated.config)
  await inDatabase(migrated.superuser, (client) =>
    client.query(`UPDATE schema_migrations SET checksum = 'x' WHERE id = 'v01.03.00/002-providers'`),
  )
  t.like(await verdictOf('schema', settings), { status: 'fail' })
  await inDatabase(migrated.superuser, (client) =>
    client.query(`INSERT INTO schema_migrations (id, checksum, duration_ms) VALUES ('v09.00.00/001-future', 'x', 1)`),
  )
  t.like(await verdictOf('schema', settings), {
    status: 'warn',
    detail: 'the schema is newer than this release: it has v09.00.00/001-future',
  })
})

test('encryption key: absent, malformed, unused, right, wrong', async (t) => {
  const own = await testDatabase()
  t.teardown(own.drop)
  const env = settingsFor(t, own.config)
  const key = (value: string) => verdictOf('encryption-key', { ...env, ENCRYPTION_KEY: value })
  t.deepEqual(await key(env['ENCRYPTION_KEY'] ?? ''), { status: 'ok', detail: 'well-formed; no value is sealed yet' })
  t.like(await key(''), { status: 'fail', detail: 'ENCRYPTION_KEY is not set: the process would start sealed' })
  t.like(await key('too short'), { status: 'fail', detail: 'ENCRYPTION_KEY is malformed: it must be 32 bytes in base64' })

  const config = testConfig(own, { ENCRYPTION_KEY: env['ENCRYPTION_KEY'] ?? '' })
  const { runtime } = await connect(own.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  const side = openSidePool(runtime, silent)
  await openVault({ orm, side, config, log: silent })
  await side.end()
  await orm.close(true)
  t.regex((await key(env['ENCRYPTION_KEY'] ?? '')).detail, /^the key of this database \(fingerprint [0-9a-f]{16}\)$/)
  const wrong = await key(Buffer.alloc(32, 9).toString('base64'))
  t.is(wrong.status, 'fail')
  t.regex(
    wrong.detail,
    /^ENCRYPTION_KEY has the fingerprint [0-9a-f]{16}, and the database was sealed by another: request logs with [0-9a-f]{16}, the hashes of API keys with [0-9a-f]{16}$/,
  )
  t.like(await key(''), { status: 'fail', detail: 'there is no encryption key, and the database is sealed with one' })
})

test('log sealing: what is set, beside what is stored', async (t) => {
  const own = await testDatabase()
  t.teardown(own.drop)
  const env = settingsFor(t, own.config)
  const look = (sealing: string) => verdictOf('log-sealing', { ...env, LOG_SEALING: sealing })
  const store = (day: string, sealed: string | null) =>
    inDatabase(own.superuser, async (client) => {
      await client.query('SELECT ensure_log_partitions($1)', [day])
      await client.query(
        `INSERT INTO log_bodies (id, organisation_id, created_at, request_headers, response_headers, request_truncated, response_truncated, sealed)
         VALUES (gen_random_uuid(), gen_random_uuid(), $1::timestamptz, '{}', '{}', false, false, $2)`,
        [`${day}T12:00:00Z`, sealed],
      )
    })
  t.regex((await look('off')).detail, /^LOG_SEALING is off/)
  t.deepEqual(await look('on'), { status: 'ok', detail: 'LOG_SEALING is on, and stored logs are sealed' })
  await store('2026-01-01', null)
  t.like(await look('off'), { status: 'ok' })
  t.regex((await look('on')).detail, /the newest request log is in the clear/)
  await store('2026-01-02', 'sealed')
  t.regex((await look('off')).detail, /the newest request log is sealed/)
  t.deepEqual(await look('on'), { status: 'ok', detail: 'LOG_SEALING is on; logs from before it was lie in the clear for 90 days at most' })
})
