import test, { type ExecutionContext } from 'ava'
import { readFile } from 'node:fs/promises'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { askAdmin, storeProvider } from '../../support/admin.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { chat, exchange, failures, type Outcome, startLoad, succeeded } from '../../support/load.ts'
import { readLogged, untilLogged } from '../../support/logged.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'

let emulator: Emulator
test.before(async () => {
  emulator = await startEmulator({ record: false })
})
test.after.always(() => emulator.stop())

const ask = (origin: string) => chat(origin, { key: workspaceKey, provider: '@emulated' })
const stream = (origin: string, frames: number, everyMs: number) =>
  chat(origin, { key: workspaceKey, provider: '@emulated', stream: { frames, everyMs } })

const starters = test.macro({
  title: (_, count: number) => `${count} processes start at once on an empty database`,
  async exec(t: ExecutionContext, count: number) {
    const database = await testDatabase({ empty: true })
    t.teardown(() => database.drop())
    const all = await Promise.all(Array.from({ length: count }, () => startGatehouse({ on: database, untilReady: false })))
    t.teardown(() => Promise.all(all.map((one) => one.stop())))
    const from = performance.now()
    await Promise.all(all.map((one) => one.ready()))
    const readyMs = performance.now() - from

    // An empty database has no rows to fill, so that a new one passes over the backfills.
    const files = (await readMigrations()).filter(({ phase }) => phase !== 'backfill').map(({ id }) => id)
    t.deepEqual(all.flatMap(appliedBy).toSorted(), files.toSorted(), 'each migration is applied by one process')
    const counts = await inDatabase(database.superuser, async (client) => {
      const tables = ['schema_migrations', 'organisations', 'workspaces', 'api_keys', 'instance_secrets']
      const { rows } = await client.query<Record<string, number>>(
        `SELECT ${tables.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`).join(', ')}`,
      )
      return rows[0]
    })
    t.deepEqual(counts, { schema_migrations: files.length, organisations: 1, workspaces: 1, api_keys: 2, instance_secrets: 2 })

    const [first] = all
    if (first === undefined) return
    await storeProvider(first.origin, { slug: 'emulated', url: emulator.url })
    for (const { origin } of all) {
      t.is((await askAdmin(origin, 'GET', '/workspaces')).status, 200)
      t.true(succeeded(await exchange(ask(origin))))
    }
    t.log(`all ready after ${Math.round(readyMs)} ms`)
  },
})

test.serial(starters, 2)
test.serial(starters, 4)

/** The migrations that a process reports as applied. */
const appliedBy = (gatehouse: Gatehouse): readonly string[] =>
  gatehouse
    .output()
    .split('\n')
    .filter((line) => line.includes('"database was migrated"'))
    .flatMap((line) => (JSON.parse(line) as { migrations: readonly string[] }).migrations)

async function workersOf({ process: { pid } }: Gatehouse): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

async function startWorkers(t: ExecutionContext): Promise<Gatehouse> {
  const gatehouse = await startGatehouse({ env: { WORKERS: '2' } })
  t.teardown(() => gatehouse.stop())
  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  await untilBothServe(gatehouse, 1)
  return gatehouse
}

/** So many exchanges, each on a connection of its own. */
const askAll = (origin: string, count: number): Promise<readonly Outcome[]> =>
  Promise.all(Array.from({ length: count }, () => exchange(ask(origin))))

/** Every process that serves has a journal of its own. */
const untilServedBy = ({ superuser }: Gatehouse, count: number) =>
  inDatabase(superuser, (client) =>
    eventually(
      async () => (await client.query('SELECT DISTINCT node FROM journal_cursors WHERE shipped_bytes > 0')).rowCount === count,
      10_000,
      `${count} processes to have served`,
    ),
  )

/** Resolves when both workers serve, for the n-th time. */
const untilBothServe = (gatehouse: Gatehouse, times: number) =>
  eventually(() => gatehouse.output().split('"serving":2').length > times, 60_000, `two workers to serve for the ${times}. time`)

/** After a kill its connections are cut and the next ones go elsewhere; a second is plenty for that. */
const settledAfterMs = 1000

/** Kills one worker under load; requests that start later than a second after it must succeed, while another takes its place. */
async function killWorker(t: ExecutionContext, gatehouse: Gatehouse, worker: number, times: number): Promise<readonly Outcome[]> {
  const load = startLoad({ clients: 4, everyMs: 20, next: () => ask(gatehouse.origin) })
  t.teardown(() => load.stop())
  await load.until((outcomes) => outcomes.length > 20)
  const killedAt = performance.now()
  process.kill(worker, 'SIGKILL')
  await untilBothServe(gatehouse, times)
  await load.until((outcomes) => outcomes.some(({ startedAt }) => startedAt > killedAt + settledAfterMs))
  const outcomes = await load.stop()
  t.deepEqual(failures(outcomes.filter(({ startedAt }) => startedAt > killedAt + settledAfterMs)), {})
  return outcomes
}

test.serial('WORKERS=2 serves from two processes; one that is killed is replaced, and what it had answered is logged', async (t) => {
  const gatehouse = await startWorkers(t)
  const workers = await workersOf(gatehouse)
  t.is(workers.length, 2)
  const outcomes: Outcome[] = [...(await askAll(gatehouse.origin, 20))]
  t.deepEqual(failures(outcomes), {})
  await untilServedBy(gatehouse, 2)
  for (const [kills, worker] of workers.entries()) outcomes.push(...(await killWorker(t, gatehouse, worker, kills + 2)))
  const replaced = await workersOf(gatehouse)
  t.is(replaced.length, 2)
  t.false(replaced.some((pid) => workers.includes(pid)))
  const answered = outcomes.filter(succeeded)
  const ids = answered.map(({ id }) => id ?? '')
  await untilLogged(gatehouse.superuser, ids, 20_000)
  const logged = await readLogged(gatehouse.superuser, ids)
  t.deepEqual([logged.missing, logged.doubled, logged.unfinished], [[], [], []])
  t.log(`${answered.length} answered, ${outcomes.length - answered.length} cut off by two kills`)
})

test.serial('WORKERS=2: from the first readiness on no request meets a worker that is not ready', async (t) => {
  const gatehouse = await startWorkers(t)
  for (let round = 0; round < 2; round += 1) {
    t.is(await gatehouse.signal('SIGTERM'), 0)
    await gatehouse.restart()
    const load = startLoad({ clients: 4, next: () => ask(gatehouse.origin) })
    t.teardown(() => load.stop())
    await untilBothServe(gatehouse, round + 2)
    t.deepEqual(failures(await load.stop()), {})
  }
})

test.serial('WORKERS=2: SIGTERM drains both workers', async (t) => {
  const gatehouse = await startWorkers(t)
  const workers = await workersOf(gatehouse)
  const begun: Promise<void>[] = []
  const streams = Array.from({ length: 6 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push(promise)
    return exchange(stream(gatehouse.origin, 30, 50), false, resolve)
  })
  await Promise.all(begun)
  t.is(await gatehouse.signal('SIGTERM'), 0)
  t.deepEqual(failures(await Promise.all(streams)), {})
  t.false(workers.some(isAlive))
  const ids = (await Promise.all(streams)).map(({ id }) => id ?? '')
  // Records that a starved database did not take in time wait on disk for the next start.
  await gatehouse.restart()
  await untilLogged(gatehouse.superuser, ids, 20_000)
  const logged = await readLogged(gatehouse.superuser, ids)
  t.deepEqual([logged.missing, logged.doubled, logged.unfinished], [[], [], []])
})

test.serial('WORKERS=2: workers do not outlive a primary that is killed', async (t) => {
  const gatehouse = await startWorkers(t)
  const workers = await workersOf(gatehouse)
  await gatehouse.signal('SIGKILL')
  await eventually(() => !workers.some(isAlive), 20_000, 'the workers to end')
  await gatehouse.restart()
  t.true(succeeded(await exchange(ask(gatehouse.origin))))
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const sealed = test.macro({
  title: (_, reason: string) => `sealed: ${reason}`,
  async exec(t: ExecutionContext, reason: string, key: string) {
    const gatehouse = await startGatehouse()
    t.teardown(() => gatehouse.stop())
    const { origin } = gatehouse
    await storeProvider(origin, { slug: 'emulated', url: emulator.url })
    t.true(succeeded(await exchange(ask(origin))))
    t.is(await gatehouse.signal('SIGTERM'), 0)

    await gatehouse.restart({ env: { ENCRYPTION_KEY: key }, untilReady: false })
    await gatehouse.printed('"ready"')
    const ready = await exchange({ url: `${origin}/readyz`, method: 'GET' })
    t.is(ready.status, 503)
    const { checks } = JSON.parse(ready.text) as { checks: Record<string, { status: string; detail?: string }> }
    t.deepEqual(checks['encryption_key'], { status: 'fail', detail: reason })
    t.is((await exchange({ url: `${origin}/healthz`, method: 'GET' })).status, 200)
    for (const refused of [
      await exchange(ask(origin)),
      await askAdmin(origin, 'GET', '/workspaces'),
      await askAdmin(origin, 'GET', '/integrations'),
    ]) {
      t.is(refused.status, 503)
      t.is((JSON.parse(refused.text) as { error: { code: string } }).error.code, 'sealed')
    }
    t.is(await gatehouse.signal('SIGTERM'), 0)

    await gatehouse.restart()
    t.true(succeeded(await exchange(ask(origin))), 'the right key opens what was stored before')
  },
})

test(sealed, 'wrong_key', Buffer.alloc(32, 8).toString('base64'))
test(sealed, 'missing_key', '')
test(sealed, 'invalid_key', 'not 32 bytes of base64')

test.serial('sealed on an empty database: nothing is made until there is a key', async (t) => {
  const database = await testDatabase({ empty: true })
  t.teardown(() => database.drop())
  const gatehouse = await startGatehouse({ on: database, env: { ENCRYPTION_KEY: '' }, untilReady: false })
  t.teardown(() => gatehouse.stop())
  await gatehouse.printed('"ready"')
  t.is((await askAdmin(gatehouse.origin, 'GET', '/workspaces')).status, 503)
  const made = await inDatabase(database.superuser, (client) =>
    client.query('SELECT id FROM organisations UNION ALL SELECT id FROM api_keys'),
  )
  t.is(made.rowCount, 0)
  t.is(await gatehouse.signal('SIGTERM'), 0)
  await gatehouse.restart({ env: { ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') } })
  t.is((await askAdmin(gatehouse.origin, 'GET', '/workspaces')).status, 200)
})
