import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import type { DatabaseConfig } from '../../../src/config/config.ts'
import { DatabaseConnectionError } from '../../../src/app/database/connection-error.ts'
import { connect, connectWithRetry } from '../../../src/app/database/connect.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { asSystem, openOrm } from '../../../src/app/database/orm.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase

test.before(async () => {
  database = await testDatabase()
})
test.after.always(() => database.drop())

const fails = test.macro(async (t, change: Partial<DatabaseConfig>, message: RegExp, retryable: boolean) => {
  const error = await t.throwsAsync(connect({ ...database.config, ...change }, silent), { instanceOf: DatabaseConnectionError })
  t.regex(error.message, message)
  t.is(error.retryable, retryable)
})

test(
  'wrong password',
  fails,
  { password: new Secret('wrong') },
  /refused the login of user "gatehouse_test" .*check DB_USER and DB_PASS/,
  false,
)
test('no password', fails, { password: null }, /wants a password of user "gatehouse_test", and there is none: set DB_PASS/, false)
test('unknown user', fails, { user: 'nobody_here' }, /refused the login of user "nobody_here"/, false)
test('unknown database', fails, { name: 'no_such_database' }, /has no database "no_such_database": create it, or check DB_NAME/, false)
test('unknown host', fails, { host: 'no-such-host.invalid' }, /"no-such-host\.invalid" cannot be resolved: check DB_HOST/, true)

test('nothing listens', async (t) => {
  const port = await freePort()
  await t.throwsAsync(connect({ ...database.config, port }, silent), {
    message: /nothing listens at 127\.0\.0\.1:\d+: is PostgreSQL running, are DB_HOST and DB_PORT right\?/,
  })
})

test('a server that accepts and says nothing is given up after two seconds', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const startedAt = performance.now()
  await t.throwsAsync(connect({ ...database.config, port: portOf(server.address()) }, silent), { message: /no answer from PostgreSQL/ })
  t.true(performance.now() - startedAt < 4000)
})

const portOf = (address: string | AddressInfo | null) => (typeof address === 'object' ? (address?.port ?? 0) : 0)

/** A function of the catalog hidden by one of ours, found first: the server then reports the facts that the test wants. */
const pretends = test.macro(async (t, definition: string, message: RegExp) => {
  const pretender = await testDatabase({ empty: true })
  t.teardown(pretender.drop)
  await inDatabase(pretender.superuser, async (client) => {
    await client.query(`CREATE FUNCTION public.${definition}`)
    await client.query(`ALTER DATABASE ${pretender.config.name} SET search_path = public, pg_catalog`)
  })
  await t.throwsAsync(connect(pretender.config, silent), { message })
})

test(
  'an old PostgreSQL is refused',
  pretends,
  `current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT CASE $1 WHEN 'server_version' THEN '13.2' ELSE '130002' END $$`,
  /^PostgreSQL 13\.2 is too old: version 14 or newer is needed$/,
)
test(
  'a standby is no database to start on',
  pretends,
  'pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
  /is a read-only standby: set DB_HOST to the primary/,
)

test('waits for a database that is down, and says so at each attempt', async (t) => {
  const lines: string[] = []
  const refusedOnce = Promise.withResolvers<void>()
  const write = (line: string) => {
    lines.push(line)
    refusedOnce.resolve()
  }
  const log = pino({ level: 'info' }, { write })
  const port = await freePort()
  const waiting = connectWithRetry({ ...database.config, port }, log)
  await refusedOnce.promise
  const relay = await relayTo(t, port)
  const { serverVersion } = await waiting
  t.regex(serverVersion, /^\d+/)
  t.true(relay.used())
  t.regex(lines[0] ?? '', /"attempt":1,"retryInMs":250,"msg":"nothing listens at/)
})

/** A port that leads to the real server. */
async function relayTo(t: ExecutionContext, port: number) {
  const { connect: dial } = await import('node:net')
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    const upstream = dial(database.config.port, database.config.host)
    socket.on('error', () => upstream.destroy())
    upstream.on('error', () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { used: () => connections > 0 }
}

test('gives up when waiting cannot help, when told to, and when the time is over', async (t) => {
  const down = { ...database.config, port: await freePort() }
  await t.throwsAsync(connectWithRetry({ ...database.config, password: new Secret('wrong') }, silent), { message: /refused the login/ })
  await t.throwsAsync(connectWithRetry(down, silent, { maxWaitMs: 300 }), { message: /nothing listens/ })
  await t.throwsAsync(connectWithRetry(down, silent, { signal: AbortSignal.timeout(100) }), { name: 'AbortError' })
})

test('the running process has time limits, the migrator has none', async (t) => {
  const { login, runtime } = await connect(database.config, silent)
  const limits = `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock, current_setting('application_name') AS name`
  t.deepEqual(await inDatabase(runtime, async (client) => (await client.query(limits)).rows), [
    { statement: '5s', lock: '2s', name: 'gatehouse' },
  ])
  t.deepEqual(await inDatabase(login, async (client) => (await client.query(limits)).rows), [
    { statement: '0', lock: '0', name: 'gatehouse' },
  ])
})

test('a full pool fails after two seconds instead of hanging', async (t) => {
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  const release = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const holder = asSystem(orm, async () => {
    entered.resolve()
    await release.promise
  })
  await entered.promise
  const startedAt = performance.now()
  await t.throwsAsync(
    asSystem(orm, (em) => em.execute('SELECT 1')),
    { message: /timeout/ },
  )
  t.true(performance.now() - startedAt < 2500)
  release.resolve()
  await holder
  await orm.close()
})
