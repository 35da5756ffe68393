// Every order of events for leases of a budget or a rate limit, on the real functions of PostgreSQL: two processes take, use, settle and die, logs
// come, doubts are resolved. The long form runs with NIGHTLY=1.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { Client } from 'pg'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { atNight } from '../../support/size.ts'

const steps = atNight(8, 6)
const most = 5
const needed = 2
/** A counter, and the arguments of the functions that make it. Every moment is in the one slot of the window. */
interface Kind {
  readonly counter: string
  readonly subject: string | null
  readonly slotMs: number | null
}
const budget: Kind = {
  counter: 'api-key:exhaustive:usage:tokens:once::0',
  subject: JSON.stringify({ kind: 'api-key', id: randomUUID(), from: 0, threshold: null, counts: 'tokens' }),
  slotMs: null,
}
const rate: Kind = { counter: 'api-key:exhaustive:tokens:rpd', subject: null, slotMs: 10_000_000_000_000 }
const organisationId = randomUUID()

let database: TestDatabase
let sql: Client

test.before(async () => {
  database = await testDatabase()
  sql = new Client(database.superuser)
  await sql.connect()
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [organisationId])
  await sql.query('SELECT ensure_log_partitions(current_date)')
})
test.after.always(async () => {
  await sql?.end()
  await database?.drop()
})

interface Process {
  readonly id: string
  readonly batch: number
  /** Granted, and not settled. */
  readonly held: number
  /** Used of that, and not settled. */
  readonly pending: number
}

interface World {
  readonly kind: Kind
  /** Granted in all. */
  readonly granted: number
  readonly processes: readonly [Process, Process]
  /** The providers' charges, by live and dead processes. */
  readonly used: number
  /** Logs that are not shipped: the amount and its mark. */
  readonly unshipped: readonly (readonly [amount: number, mark: string])[]
  /** True after a doubt was resolved while logs of the dead were missing: until they are here, less is counted than was used. */
  readonly early: boolean
}

const born = (): Process => ({ id: randomUUID(), batch: 0, held: 0, pending: 0 })

const changed = (world: World, at: 0 | 1, process: Partial<Process>): World['processes'] =>
  world.processes.map((one, index) => (index === at ? Object.assign({}, one, process) : one)) as unknown as World['processes']

async function take(world: World, at: 0 | 1): Promise<World | null> {
  const one = world.processes[at]
  const { counter, subject, slotMs } = world.kind
  const { rows } = await sql.query<{ granted: number }>(
    'SELECT granted FROM lease_limit($1, 60000, $2, $3, $4, $5, $6, $6, $6, $7, CASE WHEN $7::bigint IS NOT NULL THEN 0 END, NULL, NULL, NULL)',
    [one.id, subject, counter, organisationId, most, needed, slotMs],
  )
  const granted = rows[0]?.granted ?? 0
  return granted === 0 ? null : { ...world, granted: world.granted + granted, processes: changed(world, at, { held: one.held + granted }) }
}

/** A request uses one unit of its process's slice, and is logged. */
function use(world: World, at: 0 | 1): World | null {
  const one = world.processes[at]
  if (one.held - one.pending < 1) return null
  const mark = `${one.id.slice(0, 8)}:${one.batch + 1}`
  return {
    ...world,
    processes: changed(world, at, { pending: one.pending + 1 }),
    used: world.used + 1,
    unshipped: [...world.unshipped, [1, mark]],
  }
}

async function settle(world: World, at: 0 | 1): Promise<World | null> {
  const one = world.processes[at]
  if (one.pending === 0) return null
  await sql.query(`SELECT settle_limits($1, 60000, $2, $3, '{0}', '{0}', $4)`, [one.id, one.batch + 1, [world.kind.counter], [one.pending]])
  return { ...world, processes: changed(world, at, { batch: one.batch + 1, held: one.held - one.pending, pending: 0 }) }
}

async function die(world: World, at: 0 | 1): Promise<World | null> {
  const one = world.processes[at]
  if (one.held === 0) return null
  await sql.query(`UPDATE limit_processes SET lives_until = now() - interval '1 second' WHERE id = $1`, [one.id])
  return { ...world, processes: changed(world, at, born()) }
}

/** Logs are about budgets only. */
async function ship(world: World): Promise<World | null> {
  const { counter } = world.kind
  if (world.unshipped.length === 0 || world.kind === rate) return null
  await sql.query(
    `INSERT INTO logs (id, organisation_id, created_at, api_key_id, client_ip, method, path, operation, status, outcome, stream,
       duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, budgets)
     SELECT gen_random_uuid(), $1, now(), $1, '::1', 'POST', '/chat/completions', 'chatComplete', 200, 'complete', false, 1, 'provider', 0, 'DISABLED', 't', 1, 1, b
       FROM jsonb_array_elements($2::jsonb) b`,
    [organisationId, JSON.stringify(world.unshipped.map(([amount, mark]) => [[0, counter, '0', amount, mark]]))],
  )
  return { ...world, unshipped: [] }
}

async function resolve(world: World): Promise<World> {
  await sql.query('SELECT reclaim_leases($1)', [world.kind.counter])
  await sql.query(`UPDATE limit_doubts SET since = since - interval '1 hour'`)
  await sql.query(`SELECT resolve_doubts('1 minute', true)`)
  const live = new Set(world.processes.map(({ id }) => id.slice(0, 8)))
  return { ...world, early: world.unshipped.some(([, mark]) => !live.has(mark.slice(0, 8))) }
}

const events: Readonly<Record<string, (world: World) => Promise<World | null> | World | null>> = {
  'take A': (world) => take(world, 0),
  'take B': (world) => take(world, 1),
  'use A': (world) => use(world, 0),
  'use B': (world) => use(world, 1),
  'settle A': (world) => settle(world, 0),
  'settle B': (world) => settle(world, 1),
  'A dies': (world) => die(world, 0),
  'B dies': (world) => die(world, 1),
  ship,
  resolve,
}

async function figures({ counter }: Kind) {
  const { rows } = await sql.query<{ granted: string; leased: string }>(
    `SELECT coalesce((c.granted ->> '0')::bigint, 0) AS granted, (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.id) AS leased
       FROM limit_counters c WHERE c.id = $1`,
    [counter],
  )
  return { granted: Number(rows[0]?.granted ?? 0), leased: Number(rows[0]?.leased ?? 0) }
}

/** Returns the present fault; null: none. */
async function faultOf({ kind, used, early }: World): Promise<string | null> {
  const { granted, leased } = await figures(kind)
  if (granted > most) return `${granted} of ${most} granted`
  if (leased > granted) return `${leased} leased of ${granted}`
  return (kind === rate || !early) && used > granted ? `${used} used, ${granted} granted` : null
}

/**
 * Ends all work: then no slice is held. The counted amount of a budget is the usage; that of a rate limit is all that was granted, which the dead may
 * have used, and their slices are given up when the window has passed.
 */
async function faultAtTheEnd(world: World): Promise<string | null> {
  await sql.query('SAVEPOINT ended')
  let last = world
  for (const name of ['A dies', 'B dies', 'ship', 'resolve']) last = (await events[name]?.(last)) ?? last
  if (world.kind === rate) {
    await sql.query(`UPDATE limit_processes SET lives_until = lives_until - interval '400 years'`)
    await resolve(last)
  }
  const { granted, leased } = await figures(world.kind)
  await sql.query('ROLLBACK TO ended')
  const counted = world.kind === rate ? last.granted : last.used
  return granted === counted && leased === 0 ? null : `at the end ${counted} to be counted, ${granted} counted, ${leased} leased`
}

/** Walks every order of events, and returns how many there are and the first fault. */
async function walkAll(kind: Kind) {
  let orders = 0
  const walk = async (world: World, done: readonly string[]): Promise<string | null> => {
    orders += 1
    const fault = (await faultOf(world)) ?? (await faultAtTheEnd(world))
    if (fault !== null) return `${done.join(', ')}: ${fault}`
    if (done.length === steps) return null
    for (const [name, happen] of Object.entries(events)) {
      // The processes are alike: the first to do something is A.
      if (done.length === 1 && name.includes('B')) continue
      await sql.query(`SAVEPOINT step_${done.length}`)
      const next = await happen(world)
      const found = next === null ? null : await walk(next, [...done, name])
      await sql.query(`ROLLBACK TO step_${done.length}`)
      if (found !== null) return found
    }
    return null
  }
  await sql.query('BEGIN')
  const begun = await take({ kind, processes: [born(), born()], granted: 0, used: 0, unshipped: [], early: false }, 0)
  const fault = begun === null ? 'nothing was granted' : await walk(begun, ['take A'])
  await sql.query('ROLLBACK')
  return { orders, fault }
}

for (const [title, kind] of [
  ['a budget, and at the end what is counted is what was used', budget],
  ['a rate limit, and what the dead held of it is counted until the window has passed', rate],
] as const)
  test.serial(`every order of events keeps ${title}`, async (t) => {
    const { orders, fault } = await walkAll(kind)
    t.log(`${orders} orders`)
    t.is(fault, null)
    t.true(orders > 500)
  })
