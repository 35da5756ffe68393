// One pool serves all uses of the database beside the ORM: no use can take the connections of another, and none sees more than it should.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { databaseFault } from '../../../src/app/database/database-fault.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { sidePoolName, sideSessions, type SharedUse } from '../../../src/config/side-sessions.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'

let database: TestDatabase
test.before(async () => {
  database = await testDatabase()
})
test.after.always(() => database?.drop())

async function open() {
  const { runtime } = await connect(database.config, silent)
  return openSidePool(runtime, silent)
}

const shared = Object.entries(sideSessions).flatMap(([use, { most, ...rest }]) => ('own' in rest ? [] : [{ use: use as SharedUse, most }]))

/** Returns the statements that sleep in the database now. */
const sleeping = async (): Promise<number> =>
  inDatabase(database.superuser, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $1 AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`,
      [sidePoolName],
    )
    return rows[0]?.n ?? 0
  })

test.serial('each use has its connections, and no more, while all others ask for too many', async (t) => {
  const side = await open()
  t.teardown(() => side.end())
  for (const { use, most } of shared) {
    const asked = Array.from({ length: 2 * most }, () => side.of(use).query('SELECT pg_sleep(0.4)'))
    await eventually(async () => (await sleeping()) === most, 5000)
    const begun = performance.now()
    await Promise.all(shared.filter((other) => other.use !== use).map((other) => side.of(other.use).query('SELECT 1')))
    t.true(performance.now() - begun < 350, `${use} delays others`)
    t.true((await sleeping()) <= most, use)
    await Promise.all(asked)
  }
})

test.serial('work that finds no connection of its use for two seconds is refused as with a database that is away', async (t) => {
  const side = await open()
  t.teardown(() => side.end())
  const use = side.of('breakers')
  const holds = use.query('SELECT pg_sleep(1.9)')
  const follows = use.query('SELECT pg_sleep(1.5)')
  const late = await t.throwsAsync(use.query('SELECT 1'))
  t.is(databaseFault(late)?.code, 'dependency_unavailable')
  await Promise.all([holds, follows])
  t.is((await use.query('SELECT 1')).rowCount, 1)
})

test.serial('a transaction of an organisation sees its rows alone, and leaves nothing in the session', async (t) => {
  const side = await open()
  t.teardown(() => side.end())
  const ids = [randomUUID(), randomUUID()]
  await inDatabase(database.superuser, async (client) => {
    for (const id of ids) await client.query('INSERT INTO organisations (id, slug, name) VALUES ($1, $2, $2)', [id, `o-${id}`])
  })
  const read = 'SELECT id FROM organisations WHERE id = ANY($1)'
  const use = side.of('responses')
  for (const id of ids) {
    const seen = await use.inOrganisation(id, async (client) => (await client.query<{ id: string }>(read, [ids])).rows)
    t.deepEqual(seen, [{ id }])
    t.is((await use.query(read, [ids])).rowCount, 2, 'the process itself sees all again')
  }
  await t.throwsAsync(use.inOrganisation(ids[0] ?? '', (client) => client.query('SELECT 1 / 0')))
  t.is((await use.query(read, [ids])).rowCount, 2)
})

test.serial('an organisation that asks for all connections of a use delays no other', async (t) => {
  const side = await open()
  t.teardown(() => side.end())
  for (const { use, most } of shared.filter((each) => each.most > 1)) {
    const connections = side.of(use)
    const [greedy, other] = [randomUUID(), randomUUID()]
    const asked = Array.from({ length: 4 * most }, () =>
      connections.inOrganisation(greedy, (client) => client.query('SELECT pg_sleep(0.2)')),
    )
    await eventually(async () => (await sleeping()) > 0, 5000)
    const begun = performance.now()
    await connections.inOrganisation(other, (client) => client.query('SELECT 1'))
    t.true(performance.now() - begun < 180, `${use}: ${performance.now() - begun} ms`)
    await Promise.all(asked)
  }
})
