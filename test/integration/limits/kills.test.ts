// Real processes under one limit, killed every moment, with a database that goes away: their spend stays within the limit, and the slices of the dead
// come back. The long form runs with NIGHTLY=1.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { Client } from 'pg'
import type { Limit } from '../../../src/gateway/limits/limit.ts'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { startTcpProxy, type TcpProxy } from '../../support/emulator/tcp-proxy.ts'
import type { WorkerTask } from '../../support/limit-worker.ts'
import { eventually } from '../../support/eventually.ts'
import { type LimitWatch, watchLimits } from '../../support/limit-watch.ts'
import { atNight } from '../../support/size.ts'

const rounds = atNight(100, 5)
const processes = 4
const clients = 125
/** The limit in nano-dollars. */
const dollar = 1_000_000_000
const mostTokens = 100_000_000

let database: TestDatabase
let sql: Client
let proxy: TcpProxy
let watch: LimitWatch
const organisationId = randomUUID()
const running = new Set<ChildProcess>()

test.before(async () => {
  database = await testDatabase()
  watch = await watchLimits(database.superuser, { '%:cost': dollar, '%:rpd': mostTokens })
  sql = new Client(database.superuser)
  await sql.connect()
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [organisationId])
  proxy = await startTcpProxy({ host: String(database.superuser.host), port: Number(database.superuser.port) })
})
test.after.always(async () => {
  for (const child of running) child.kill('SIGKILL')
  await proxy?.stop()
  await sql?.end()
  await database?.drop()
})

const counterOf = async (id: string) => {
  const { rows } = await sql.query<{ granted: string; leased: string }>(
    `SELECT (SELECT coalesce(sum(v.value::text::bigint), 0) FROM jsonb_each(c.granted) v) AS granted,
            (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.id) AS leased
       FROM limit_counters c WHERE c.id = $1`,
    [id],
  )
  const [row] = rows
  return { granted: Number(row?.granted ?? 0), leased: Number(row?.leased ?? 0) }
}

interface Worker {
  readonly child: ChildProcess
  charged: number
}

function start(task: Omit<WorkerTask, 'client' | 'clients'>): Worker {
  const { user, password } = database.superuser
  const client = { host: '127.0.0.1', port: proxy.port, user: String(user), password: String(password), database: database.config.name }
  const file = new URL('../../support/limit-worker.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [file, JSON.stringify({ ...task, client, clients })], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const worker = { child, charged: 0 }
  let rest = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) worker.charged += Number(line)
  })
  return worker
}

async function stop({ child }: Worker): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await gone
  running.delete(child)
}

/** Ends the leases of the dead, as soon as their last statement is done too; those of rate limits, when the window has passed. */
async function forgetProcesses(diedBefore: '0 s' | '2 days'): Promise<void> {
  const theirs = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse-side'`
  await eventually(async () => (await sql.query(theirs)).rows.length === 0, 15_000)
  await sql.query(`UPDATE limit_processes SET lives_until = now() - $1::interval`, [diedBefore])
  await sql.query(`SELECT keep_limits()`)
  // They have no journals: no logs come with their usage.
  await sql.query(`UPDATE limit_doubts SET since = since - interval '1 hour'`)
  await sql.query(`SELECT resolve_doubts('1 minute', false)`)
}

/** Lets processes work under a limit, kills one every moment, and returns the observations. */
async function play(limit: Limit, most: number) {
  const skews = [0, 300_000, -300_000, 1000]
  const begin = (at: number) => start({ limit, most, skewMs: skews[at % skews.length] ?? 0 })
  const workers = Array.from({ length: processes }, (_, at) => begin(at))
  const dead: Worker[] = []
  let highest = 0
  for (let round = 0; round < rounds; round += 1) {
    const until = performance.now() + 1500
    while (performance.now() < until) {
      highest = Math.max(highest, (await counterOf(limit.id)).granted)
      await sleep(10)
    }
    const victim = workers[round % processes]
    if (victim !== undefined) {
      await stop(victim)
      dead.push(victim)
      workers[round % processes] = begin(round)
    }
    if (round % 3 === 1) {
      proxy.cut()
      await sleep(500)
      proxy.heal()
    }
  }
  for (const worker of workers) {
    await stop(worker)
    dead.push(worker)
  }
  return { highest, charged: dead.reduce((sum, worker) => sum + worker.charged, 0), kills: dead.length }
}

test.serial(
  'E, F and H: 500 clients in 4 processes with wrong clocks, killed and cut off, never pass $1, and nothing stays leased',
  async (t) => {
    const window = { slotMs: null, reset: null, days: null, anchor: null } as const
    const budget = { kind: 'api-key', id: randomUUID(), from: 0, threshold: null } as const
    const name = { id: 'api-key:1:usage:cost', organisationId, name: '$1', value: dollar }
    const limit: Limit = { ...name, kind: 'usage', counts: 'cost', window, budget }
    const most = 60_000
    const { highest, charged, kills } = await play(limit, most)
    t.true(highest > 0 && highest <= limit.value, `granted ${highest}`)
    t.deepEqual(await watch.faults(), [], 'at the end of every transaction')
    // All of them are dead: no heartbeat comes.
    await forgetProcesses('0 s')
    const { granted, leased } = await counterOf(limit.id)
    t.is(leased, 0)
    t.true(granted > 0 && granted <= limit.value)
    t.log(`${charged} charged, ${granted} counted, ${kills} kills`)
    // The unwritten amount of a killed process is at most the requests in flight of its clients for the tenth of a second between two writes.
    t.true(granted <= charged, `${granted} counted, ${charged} charged`)
    t.true(charged - granted <= kills * clients * most, `${charged} charged, ${granted} counted`)
  },
)

test.serial('a rate limit holds in the same way', async (t) => {
  const name = { id: 'api-key:1:tokens:rpd', organisationId, name: 'tokens', value: mostTokens }
  const limit: Limit = { ...name, kind: 'rate', counts: 'tokens', window: { slotMs: 1_440_000, slots: 60 } }
  const { highest, charged, kills } = await play(limit, 2000)
  t.true(highest > 0 && highest <= limit.value, `granted ${highest}`)
  // The slices of the dead stay used: a provider may have answered.
  await forgetProcesses('0 s')
  const { granted } = await counterOf(limit.id)
  t.true(charged > 0 && charged <= granted && granted <= limit.value, `${charged} charged, ${granted} counted`)
  await forgetProcesses('2 days')
  t.is((await counterOf(limit.id)).leased, 0)
  t.log(`${charged} charged, ${granted} counted, ${kills} kills`)
  t.deepEqual(await watch.faults(), [], 'at the end of every transaction')
  t.log(`${await watch.looks()} looks`)
})
