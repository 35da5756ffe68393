// A slice that was granted, and whose answer the process never got, is free again while the process lives.
import { randomUUID } from 'node:crypto'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import test from 'ava'
import { Client } from 'pg'
import { openSidePool, type SidePool } from '../../../src/app/database/side-pool.ts'
import { openStoredCounters, type StoredCounters } from '../../../src/app/limits/counter-store.ts'
import type { Limit } from '../../../src/gateway/limits/limit.ts'
import { silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'

let database: TestDatabase
let sql: Client
let side: SidePool
let stored: StoredCounters
const organisationId = randomUUID()
const clients = new Set<Socket>()

/** A way to the database that can be cut on the side of the process alone. */
const way = createServer((client) => {
  const { host = '127.0.0.1', port = 5432 } = database.superuser
  const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  clients.add(client)
  client.on('error', () => {}).on('close', () => clients.delete(client))
  server.on('error', () => {}).on('close', () => client.destroy())
  client.pipe(server, { end: false })
  server.pipe(client)
})

test.before(async () => {
  database = await testDatabase()
  sql = new Client(database.superuser)
  await sql.connect()
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [organisationId])
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  const { port } = way.address() as AddressInfo
  side = openSidePool({ ...database.superuser, host: '127.0.0.1', port }, silent)
  stored = openStoredCounters({ side, log: silent })
})
test.after.always(async () => {
  await stored?.stop()
  await side?.end()
  for (const client of clients) client.destroy()
  way.close()
  await sql?.end()
  await database?.drop()
})

const limitOf = (name: string, kind: Limit['kind']): Limit => ({
  id: `api-key:${name}`,
  organisationId,
  name,
  kind,
  counts: 'tokens',
  value: 100,
  window: kind === 'usage' ? { slotMs: null, reset: null, days: null, anchor: null } : { slotMs: 3_600_000, slots: 60 },
  ...(kind === 'usage' && { budget: { kind: 'api-key' as const, id: randomUUID(), from: 0, threshold: null } }),
})

const wish = { needed: 40, queued: 40, wanted: 40 }
const leased = async ({ id }: Limit): Promise<number> => {
  const { rows } = await sql.query<{ sum: string | null }>('SELECT sum(amount) FROM limit_leases WHERE counter = $1', [id])
  return Number(rows[0]?.sum ?? 0)
}
const granted = async ({ id }: Limit): Promise<number> => {
  const { rows } = await sql.query<{ sum: string | null }>(
    'SELECT sum(v.value::text::bigint) FROM limit_counters c, jsonb_each(c.granted) v WHERE c.id = $1',
    [id],
  )
  return Number(rows[0]?.sum ?? 0)
}

/** Cuts the connection of a take that waits in the database, which then grants it. */
async function lose(limit: Limit): Promise<void> {
  await sql.query('BEGIN')
  await sql.query('SELECT FROM limit_counters WHERE id = $1 FOR UPDATE', [limit.id])
  const lost = stored.take(limit, wish).then(
    () => false,
    () => true,
  )
  await eventually(async () => {
    const { rows } = await sql.query<{ waits: boolean }>(
      `SELECT count(*) > 0 AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%lease_limit%'`,
    )
    return rows[0]?.waits === true
  }, 10_000)
  for (const client of clients) client.destroy()
  if (!(await lost)) throw new Error('the take was answered')
  await sql.query('COMMIT')
}

const flushed = (reached: () => Promise<boolean>) =>
  eventually(async () => {
    await stored.flush()
    return reached()
  }, 20_000)

for (const kind of ['usage', 'rate'] as const) {
  test.serial(`${kind}: what twelve lost takes were granted is free again, though the process lives and does not ask again`, async (t) => {
    for (let at = 0; at < 12; at += 1) {
      const limit = limitOf(`${kind}-idle-${at}`, kind)
      const held = await stored.take(limit, wish)
      t.is(held.granted, 40)
      await lose(limit)
      await flushed(async () => (await leased(limit)) === 40 && (await granted(limit)) === 40)
    }
  })

  test.serial(`${kind}: the next take frees what the one before was granted, and has room`, async (t) => {
    const limit = limitOf(`${kind}-busy`, kind)
    await stored.take(limit, { needed: 20, queued: 20, wanted: 20 })
    await lose(limit)
    await eventually(async () => (await leased(limit)) === 60, 10_000)
    const next = await stored.take(limit, { needed: 80, queued: 80, wanted: 80 })
    t.is(next.granted, 80)
    t.is(await leased(limit), 100)
    await flushed(() => Promise.resolve(true))
    t.is(await leased(limit), 100, 'what the process heard of stays its own')
  })
}

test.serial('a refusal tells what processes hold apart from what is spent', async (t) => {
  const limit = limitOf('told', 'usage')
  const { slot } = await stored.take(limit, { needed: 70, queued: 70, wanted: 70 })
  stored.settle(limit, slot, { freed: 10, used: 20 })
  const refused = await stored.take(limit, { needed: 60, queued: 60, wanted: 60 })
  t.like(refused, { granted: 0, used: 60, reserved: 40 })
})
