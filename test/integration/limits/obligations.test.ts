// The obligations of the ledger, each by its letter, on the real counters of PostgreSQL. test/house/ledger-obligations.test.ts names the files of all
// letters.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { Client } from 'pg'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openStoredCounters, type StoredCounters } from '../../../src/app/limits/counter-store.ts'
import { type Counters, createCounters, type TakenAmount } from '../../../src/gateway/limits/counters.ts'
import type { Limit } from '../../../src/gateway/limits/limit.ts'
import { silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'

interface Process {
  readonly stored: StoredCounters
  readonly counters: Counters
}

let database: TestDatabase
let sql: Client
const organisationId = randomUUID()
const opened: Process[] = []

test.before(async () => {
  database = await testDatabase()
  sql = new Client(database.superuser)
  await sql.connect()
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [organisationId])
})
test.after.always(async () => {
  await Promise.all(opened.map(({ stored }) => stored.stop()))
  await sql?.end()
  await database?.drop()
})

function open(): Process {
  const stored = openStoredCounters({ side: openSidePool(database.superuser, silent), log: silent })
  const one = { stored, counters: createCounters(stored, () => performance.now()) }
  opened.push(one)
  return one
}

const window = { slotMs: null, reset: null, days: null, anchor: null } as const
const limitOf = (id: string, value: number): Limit => ({
  id,
  organisationId,
  name: id,
  kind: 'usage',
  counts: 'tokens',
  value,
  window,
  budget: { kind: 'api-key', id: randomUUID(), from: 0, threshold: null },
})

const figures = async ({ id }: Limit) => {
  const { rows } = await sql.query<{ granted: string; leased: string }>(
    `SELECT coalesce((c.granted ->> '0')::bigint, 0) AS granted, (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.id) AS leased
       FROM limit_counters c WHERE c.id = $1`,
    [id],
  )
  const [granted, leased] = [Number(rows[0]?.granted ?? 0), Number(rows[0]?.leased ?? 0)]
  return { spent: granted - leased, leased }
}

/** Takes an amount, or returns null when it does not fit. */
async function take({ counters }: Process, limit: Limit, amount: number): Promise<TakenAmount | null> {
  for (let tries = 0; tries < 8; tries += 1) {
    const [taken] = counters.tryTake([limit], { requests: 1, tokens: amount, cost: 0 }) ?? []
    if (taken !== undefined) return taken
    if ((await counters.fill(limit, amount)) !== null) return null
  }
  return null
}

async function rest(...processes: readonly Process[]): Promise<void> {
  for (const { counters, stored } of processes) {
    counters.sweep(true)
    await stored.flush()
  }
}

test.serial(
  'A: spent and leased together never pass the limit; what is used beyond a reservation is added, and nothing more is let in',
  async (t) => {
    const limit = limitOf('a', 100)
    const [one, other] = [open(), open()]
    const held = await Promise.all([take(one, limit, 60), take(other, limit, 60)])
    t.is(held.filter((taken) => taken !== null).length, 1)
    const { spent, leased } = await figures(limit)
    t.true(spent + leased <= 100)
    for (const [at, taken] of held.entries()) if (taken !== null) (at === 0 ? one : other).counters.settle(taken, 130)
    await rest(one, other)
    t.deepEqual(await figures(limit), { spent: 130, leased: 0 })
    t.is(await take(one, limit, 1), null)
  },
)

test.serial('B: each settlement counts once, however often its batch is sent', async (t) => {
  const limit = limitOf('b', 1000)
  const one = open()
  const taken = await take(one, limit, 50)
  if (taken === null) throw new Error('nothing was granted')
  one.counters.settle(taken, 20)
  await rest(one)
  const { rows } = await sql.query<{ id: string; batch: string }>(`SELECT id, batch FROM limit_processes ORDER BY lives_until DESC LIMIT 1`)
  const again = [rows[0]?.id, rows[0]?.batch]
  await sql.query(`SELECT settle_limits($1, 10000, $2, '{b}', '{0}', '{0}', '{20}')`, again)
  t.deepEqual(await figures(limit), { spent: 20, leased: 0 })
})

test.serial('B: what is corrected before it is settled is right once it is', async (t) => {
  const limit = limitOf('early', 1000)
  const one = open()
  const taken = await take(one, limit, 50)
  if (taken === null) throw new Error('nothing was granted')
  one.counters.settle(taken, 40)
  await sql.query(`SELECT correct_limit('early', $1, -35)`, [taken.slot])
  const { rows } = await sql.query<{ spent: string }>(`SELECT limit_spent('early', $1) AS spent`, [taken.slot])
  t.is(rows[0]?.spent, '0', 'nobody is shown less than nothing')
  await rest(one)
  t.deepEqual(await figures(limit), { spent: 5, leased: 0 })
})

test.serial('C: when all is quiet nothing is leased', async (t) => {
  const limit = limitOf('c', 1000)
  const processes = [open(), open(), open()]
  const taken = await Promise.all(processes.map((one) => take(one, limit, 10)))
  for (const [at, one] of taken.entries()) if (one !== null) processes[at]?.counters.settle(one, 3)
  await rest(...processes)
  t.deepEqual(await figures(limit), { spent: 9, leased: 0 })
})

/** The promise of a second is about the product: a machine that does much beside is late now and then, and not at most of several tries. */
const triesOfD = 5
const promisedMs = 1000

test.serial('D: what fits into the rest of a limit is let in within a second, though another process holds a slice', async (t) => {
  const [one, other] = [open(), open()]
  const beat = setInterval(() => {
    for (const { counters, stored } of [one, other]) {
      counters.sweep()
      void stored.flush()
    }
  }, 100)
  t.teardown(() => clearInterval(beat))
  const took: number[] = []
  for (let round = 0; round < triesOfD; round += 1) {
    const limit = limitOf(`d:${round}`, 1000)
    // It is used again and again, so that its slice is larger than its need.
    for (let at = 0; at < 5; at += 1) {
      const taken = await take(one, limit, 10)
      if (taken === null) throw new Error('nothing was granted')
      one.counters.settle(taken, 10)
    }
    const { leased } = await figures(limit)
    t.true(leased > 0)
    took.push(await eventually(async () => (await take(other, limit, 950)) !== null, 5000))
  }
  t.log(`${took.map(Math.round).join(', ')} ms`)
  const median = took.toSorted((a, b) => a - b)[Math.floor(triesOfD / 2)] ?? Infinity
  t.true(median < promisedMs, `${took.join(', ')} ms`)
})

test.serial('G: a request that was reserved before a reset or a raise settles into the counter that it was reserved from', async (t) => {
  const [before, after] = [limitOf('g:0', 100), limitOf('g:1', 100)]
  const one = open()
  const old = await take(one, before, 40)
  const fresh = await take(one, after, 40)
  if (old === null || fresh === null) throw new Error('nothing was granted')
  one.counters.settle(old, 33)
  one.counters.settle(fresh, 7)
  const raised = await take(one, { ...after, value: 200 }, 150)
  t.truthy(raised)
  if (raised !== null) one.counters.settle(raised, 150)
  await rest(one)
  t.deepEqual(await figures(before), { spent: 33, leased: 0 })
  t.deepEqual(await figures(after), { spent: 157, leased: 0 })
})
