import test from 'ava'
import { testDatabase, type TestDatabase } from '../../../support/database.ts'
import { pgbouncerFile, startPgbouncer } from '../../../support/pgbouncer.ts'
import { startPooler } from '../../../support/pooler.ts'
import { settingsFor, verdictOf } from '../../../support/preflight.ts'

let database: TestDatabase
test.before(async (t) => {
  if (pgbouncerFile === null)
    t.log('SKIPPED: there is no pgbouncer on this machine; a stand-in with one server connection is tested instead')
  database = await testDatabase()
})
test.after.always(async () => {
  await database?.drop()
})

// Loud on purpose: a machine without pgbouncer must not look as if it had been tried.
const withPgbouncer = pgbouncerFile === null ? test.skip : test

for (const poolSize of [1, 2, 5])
  withPgbouncer(`a real pgbouncer in transaction mode is found, with ${poolSize} server connections`, async (t) => {
    const pooled = await startPgbouncer(t, database.config, { mode: 'transaction', poolSize })
    const { status, detail, fix } = await verdictOf('postgres-pooling', settingsFor(t, pooled))
    t.regex(detail, /^PgBouncer [\d.]+ in transaction mode stands before PostgreSQL$/)
    t.is(status, 'fail')
    t.regex(fix ?? '', /^Set DB_HOST and DB_PORT to PostgreSQL itself/)
  })

for (const ignoreOptions of [true, false])
  withPgbouncer(`a pgbouncer in session mode serves, which ${ignoreOptions ? 'drops' : 'refuses'} options of a start`, async (t) => {
    const pooled = await startPgbouncer(t, database.config, { mode: 'session', ignoreOptions })
    t.deepEqual(await verdictOf('postgres-pooling', settingsFor(t, pooled)), {
      status: 'ok',
      detail: 'a connection pooler in session mode stands before PostgreSQL',
    })
  })

test('a pooler that gives every client the same server connection is found', async (t) => {
  const port = await startPooler(t, database.superuser)
  const { status, detail } = await verdictOf('postgres-pooling', settingsFor(t, { ...database.config, port }))
  t.is(status, 'fail')
  t.is(detail, 'a connection pooler in transaction or statement mode stands before PostgreSQL')
})
