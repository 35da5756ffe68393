import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openSharedBreakers } from '../../../src/app/breakers/shared-breakers.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { connect } from '../../../src/app/database/connect.ts'
import { inDatabase, silent, testDatabase } from '../../support/database.ts'
import { startTcpProxy } from '../../support/emulator/tcp-proxy.ts'
import { eventually } from '../../support/eventually.ts'

test('a breaker that opens while the database is away stays open, and the other processes hear of it afterwards', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const proxy = await startTcpProxy(database.config)
  t.teardown(() => proxy.stop())
  const { runtime } = await connect({ ...database.config, port: proxy.port }, silent)
  const side = openSidePool(runtime, silent)
  t.teardown(() => side.end())
  const shared = openSharedBreakers({ side, log: silent })
  t.teardown(() => shared.stop())
  const organisationId = randomUUID()
  await inDatabase(database.superuser, (client) =>
    client.query('INSERT INTO organisations (id, slug, name) VALUES ($1, $2, $2)', [organisationId, 'acme']),
  )
  proxy.cut()
  const target = randomUUID()
  const now = Date.now()
  const change = { target, kind: 'opened', openedAt: now, until: now + 60_000 } as const
  shared.routing.of(organisationId).breakers.apply(change)
  shared.routing.tell({ change, about: { organisationId, workspaceId: null, config: null, option: 'config', provider: 'openai' } })
  await eventually(() => shared.untold() === 1, 10_000)
  proxy.heal()
  shared.clear()
  const stored = () =>
    inDatabase(database.superuser, async (client) => (await client.query('SELECT FROM breakers WHERE id = $1', [target])).rowCount === 1)
  await eventually(stored, 15_000)
  t.is(shared.open(), 1)
  await eventually(() => shared.untold() === 0, 10_000)
})
