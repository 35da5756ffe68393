import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { Pool, type ClientConfig } from 'pg'
import { connect } from '../../../src/app/database/connect.ts'
import { asSystem, openOrm } from '../../../src/app/database/orm.ts'
import { replaceDead } from '../../../src/app/database/pool.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { startTcpProxy, type TcpProxy } from '../../support/emulator/tcp-proxy.ts'

let database: TestDatabase
let proxy: TcpProxy
let runtime: ClientConfig

test.before(async () => {
  database = await testDatabase()
  proxy = await startTcpProxy(database.config)
  runtime = (await connect({ ...database.config, port: proxy.port }, silent)).runtime
})
test.after.always(async () => {
  await proxy?.stop()
  await database?.drop()
})

const poolSize = 2

async function openSmall(t: ExecutionContext) {
  let pool: Pool | null = null
  const orm = await openOrm({ client: runtime, poolSize, entities: [], onPool: (made) => (pool = made) })
  t.teardown(() => orm.close(true))
  const places = () => ({ all: pool?.totalCount, idle: pool?.idleCount })
  const ask = () => asSystem(orm, (em) => em.execute<{ one: number }[]>('SELECT 1 AS one'))
  return { orm, places, ask }
}

test.serial('connections that died within transactions cost the pool no place', async (t) => {
  const { orm, places, ask } = await openSmall(t)
  for (let turn = 0; turn < 2 * poolSize; turn += 1) {
    await t.throwsAsync(
      asSystem(orm, async (em) => {
        const [own] = await em.execute<{ pid: number }[]>('SELECT pg_backend_pid() AS pid')
        await inDatabase(database.superuser, (client) => client.query('SELECT pg_terminate_backend($1, 5000)', [own?.pid]))
        await em.execute('SELECT 1')
      }),
    )
  }
  t.deepEqual(await ask(), [{ one: 1 }])
  t.deepEqual(places(), { all: 1, idle: 1 })
})

test.serial('a connection that died before its transaction began costs no place either', async (t) => {
  const { places, ask } = await openSmall(t)
  for (let turn = 0; turn < 2 * poolSize; turn += 1) {
    await ask()
    // The pool gets the event after it has given the connection away.
    proxy.heal()
    await t.throwsAsync(ask())
  }
  t.deepEqual(await ask(), [{ one: 1 }])
  t.deepEqual(places(), { all: 1, idle: 1 })
})

test.serial('a server that falls silent is left; one that is only not asked is kept', async (t) => {
  const silenceMs = 500
  const pool = new Pool({ ...runtime, max: 1 })
  replaceDead(pool, silenceMs)
  const held = await pool.connect()
  held.on('error', () => {})
  await held.query('BEGIN')
  await sleep(3 * silenceMs)
  await held.query('COMMIT')
  proxy.freeze()
  t.teardown(() => proxy.heal())
  await t.throwsAsync(held.query('SELECT 1'), { message: `the database did not answer for ${silenceMs} ms` })
  held.release()
  await pool.end()
  t.is(pool.totalCount, 0)
})
