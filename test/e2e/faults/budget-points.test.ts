// A Gatehouse under a budget is killed at each point of a request: the provider, or a lock of PostgreSQL, holds it exactly there. Its slices stay
// held until its logs are here; then the budget has the amounts of the logs, and the rest is free.
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { once } from 'node:events'
import test from 'ava'
import { Client } from 'pg'
import { manage, storeProvider } from '../../support/admin.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { type LimitWatch, watchLimits } from '../../support/limit-watch.ts'
import { exchange, type Outcome } from '../../support/load.ts'
import { environment, type Gatehouse, startGatehouse } from '../../support/process.ts'

/** Long, for machines that run much beside. */
const withinMs = 60_000
/** gpt-4o: 10 tokens in and 20 out, in nano-dollars. */
const cost = 225_000
/** A dollar, in nano-dollars: room for one request that may cost two thirds of it, and for some that were answered. */
const limit = 1_000_000_000
const dear = { n: 4, max_tokens: 16_000 }
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
const whole = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })
const frame = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', choices: [{ index: 0, delta: { content: 'hi' } }] })}\n\n`

/** A provider whose answers the test gives. `arrived` resolves with the answer to the next request. */
interface Provider {
  readonly url: string
  arrived(): Promise<ServerResponse>
  readonly stop: () => void
}

const urlOf = (server: Server, scheme: string): string => `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`

async function startProvider(): Promise<Provider> {
  let next: PromiseWithResolvers<ServerResponse> | null = null
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      // It is answered at once, without a wait.
      if (next === null) response.setHeader('content-type', 'application/json').end(whole)
      else next.resolve(response)
      next = null
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: urlOf(server, 'http'),
    arrived: () => (next = Promise.withResolvers()).promise,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A provider that accepts connections and never sends a byte: the process waits for its certificate, and has sent no part of the request. */
async function startMute(): Promise<Server> {
  const server = createTcpServer((socket) => socket.on('error', () => {}))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

let database: TestDatabase
let sql: Client
/** Holds locks. */
let holder: Client
let provider: Provider
let mute: Server
let victim: Gatehouse
let beside: Gatehouse
let watch: LimitWatch

test.before(async () => {
  ;[database, provider, mute] = await Promise.all([testDatabase(), startProvider(), startMute()])
  watch = await watchLimits(database.superuser, { '%': limit })
  ;[sql, holder] = [new Client(database.superuser), new Client(database.superuser)]
  await Promise.all([sql.connect(), holder.connect()])
  ;[victim, beside] = await Promise.all([
    startGatehouse({ on: database, readyWithinMs: withinMs }),
    startGatehouse({ on: database, readyWithinMs: withinMs }),
  ])
  await storeProvider(beside.origin, { slug: 'held', url: provider.url })
  await storeProvider(beside.origin, { slug: 'mute', url: urlOf(mute, 'https') })
})
test.after.always(async () => {
  await Promise.all([victim?.stop(), beside?.stop()])
  await Promise.all([sql?.end(), holder?.end()])
  provider?.stop()
  mute?.close()
  await database?.drop()
})

interface Key {
  readonly id: string
  readonly secret: string
}

async function makeKey(): Promise<Key> {
  const made = await manage(beside.origin, 'POST', '/api-keys/workspace/service', {
    name: 'spender',
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit: 1, output_policy: 'strict' },
  })
  return { id: String(made['id']), secret: String(made['key']) }
}

const chatOf = ({ origin }: Gatehouse, { secret }: Key, { slug = 'held', stream = false } = {}) => ({
  url: `${origin}/v1/chat/completions`,
  headers: { 'x-service-api-key': secret, 'x-service-provider': `@${slug}` },
  body: JSON.stringify({ model: 'gpt-4o', messages: [], stream, ...dear }),
})

interface Figures {
  readonly spent: number
  readonly leased: number
  /** The process that has the lease. */
  readonly process: string | null
}

async function figuresOf({ id }: Key): Promise<Figures> {
  const { rows } = await sql.query<{ spent: string; leased: string; process: string | null }>(
    `SELECT coalesce(sum(limit_spent(c.id, s::bigint)), 0) AS spent,
            coalesce((SELECT sum(l.amount) FROM limit_leases l JOIN limit_counters k ON k.id = l.counter WHERE k.owner_id = $1), 0) AS leased,
            (SELECT min(l.process::text) FROM limit_leases l JOIN limit_counters k ON k.id = l.counter WHERE k.owner_id = $1) AS process
       FROM limit_counters c, jsonb_object_keys(c.granted) s WHERE c.owner_id = $1`,
    [id],
  )
  const [row] = rows
  return { spent: Number(row?.spent ?? 0), leased: Number(row?.leased ?? 0), process: row?.process ?? null }
}

/** The logs of answered requests; refusals have logs too. */
const logsOf = async ({ id }: Key): Promise<number> =>
  Number((await sql.query<{ n: string }>('SELECT count(*) AS n FROM logs WHERE api_key_id = $1 AND status = 200', [id])).rows[0]?.n)

/** The sessions that wait to write settlements. */
const settling = async (): Promise<readonly number[]> => {
  const { rows } = await sql.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT settle_limits%'`,
  )
  return rows.map(({ pid }) => pid)
}

/** A request at the provider: it has a lease, and holds it alone. */
async function atProvider(key: Key, stream = false) {
  const arriving = provider.arrived()
  const ended = exchange(chatOf(victim, key, { stream }))
  const response = await arriving
  const { process } = await figuresOf(key)
  if (process === null) throw new Error('nothing is leased')
  return { ended, response, process }
}

/** Locks the rows that settlements of a process, or its logs, would write. */
async function lock(what: { readonly process: string } | 'logs'): Promise<void> {
  await holder.query('BEGIN')
  if (what === 'logs') await holder.query('LOCK TABLE logs IN SHARE MODE')
  else await holder.query('SELECT FROM limit_processes WHERE id = $1 FOR UPDATE', [what.process])
}
const unlock = () => holder.query('ROLLBACK')

const answered = (key: Key, ended: Promise<Outcome>, response: ServerResponse): Promise<Outcome> => {
  response.setHeader('content-type', 'application/json').end(whole)
  return ended
}

interface Point {
  readonly name: string
  /** Brings a request of the victim to the point, and resolves when it is there: kill it now. */
  reach(key: Key): Promise<void>
  /** Right after the kill. */
  afterwards?(key: Key): Promise<void>
  /** False: the budget has the usage of the request already, and the rest of the lease alone is the dead process's. */
  readonly unsettled: boolean
  /** The final amount in its logs. */
  readonly logs: 0 | 1
}

const points: readonly Point[] = [
  {
    name: 'after its lease was taken',
    async reach(key) {
      const connecting = once(mute, 'connection')
      void exchange(chatOf(victim, key, { slug: 'mute' }))
      await connecting
    },
    unsettled: true,
    logs: 0,
  },
  {
    name: 'after the request was sent',
    async reach(key) {
      await atProvider(key)
    },
    unsettled: true,
    logs: 0,
  },
  {
    name: 'in the middle of a stream',
    async reach(key) {
      const arriving = provider.arrived()
      const { url, headers, body } = chatOf(victim, key, { stream: true })
      const streaming = fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
      const response = await arriving
      response.setHeader('content-type', 'text/event-stream').write(frame)
      const { value } = (await (await streaming).body?.getReader().read()) ?? {}
      if (value === undefined) throw new Error('nothing of the stream came')
    },
    unsettled: true,
    logs: 0,
  },
  {
    name: 'after the last byte',
    async reach(key) {
      const { ended, response, process } = await atProvider(key)
      await lock({ process })
      await assertAnswered(answered(key, ended, response))
    },
    async afterwards() {
      for (const pid of await settling()) await sql.query('SELECT pg_terminate_backend($1)', [pid])
      await unlock()
    },
    unsettled: true,
    logs: 1,
  },
  {
    name: 'before its settlements are committed',
    async reach(key) {
      const { ended, response, process } = await atProvider(key)
      await lock({ process })
      await assertAnswered(answered(key, ended, response))
      await eventually(async () => (await settling()).length > 0, withinMs, 'settlements that wait')
    },
    async afterwards() {
      for (const pid of await settling()) await sql.query('SELECT pg_terminate_backend($1)', [pid])
      await unlock()
    },
    unsettled: true,
    logs: 1,
  },
  {
    name: 'before it hears that its settlements are committed',
    async reach(key) {
      const { ended, response, process } = await atProvider(key)
      await lock({ process })
      await assertAnswered(answered(key, ended, response))
      await eventually(async () => (await settling()).length > 0, withinMs, 'settlements that wait')
    },
    async afterwards(key) {
      await unlock()
      await eventually(async () => (await figuresOf(key)).spent === cost, withinMs, 'the settlements of the dead')
    },
    unsettled: false,
    logs: 1,
  },
  {
    name: 'after its settlements are committed, and before its logs are',
    async reach(key) {
      const { ended, response } = await atProvider(key)
      await lock('logs')
      await assertAnswered(answered(key, ended, response))
      await eventually(async () => (await figuresOf(key)).spent === cost, withinMs, 'settlements')
    },
    afterwards: async () => void (await unlock()),
    unsettled: false,
    logs: 1,
  },
]

async function assertAnswered(ended: Promise<Outcome>): Promise<void> {
  const { status, complete, text } = await ended
  if (status !== 200 || !complete) throw new Error(`answered ${status}: ${text}`)
}

const askBeside = async (key: Key): Promise<number | null> => (await exchange(chatOf(beside, key))).status

/** Ends the time for which the slices of a killed process are held for it. */
async function expire(process: string): Promise<void> {
  await sql.query(`UPDATE limit_processes SET lives_until = now() - interval '1 second' WHERE id = $1`, [process])
  await sql.query('SELECT keep_limits()')
}

async function resolveDoubts(): Promise<void> {
  await sql.query(`UPDATE limit_doubts SET since = since - interval '1 hour'`)
  await sql.query(`SELECT resolve_doubts('1 minute', false)`)
}

for (const point of points)
  test.serial(`E: killed ${point.name}, a process leaves its budget as its logs say, and holds nothing of it`, async (t) => {
    t.timeout(180_000)
    const key = await makeKey()
    await point.reach(key)
    const { process } = await figuresOf(key)
    await victim.signal('SIGKILL')
    await point.afterwards?.(key)

    // The other processes do not know yet that it is dead.
    const before = await figuresOf(key)
    t.true(before.spent + before.leased <= limit, JSON.stringify(before))
    if (point.unsettled) {
      t.is(before.spent, 0)
      t.true(before.leased > cost, JSON.stringify(before))
      t.is(await askBeside(key), 412, 'what it held is nobody else’s')
    } else t.is(before.spent, cost)

    if (process !== null) await expire(process)
    const doubtful = await figuresOf(key)
    t.is(doubtful.leased, 0)
    t.is(doubtful.spent, before.spent + before.leased, 'a provider may have charged it')
    if (point.unsettled) t.is(await askBeside(key), 412, 'what it may have used is nobody else’s')

    await victim.restart()
    await eventually(async () => (await logsOf(key)) === point.logs, withinMs, 'its logs')
    await resolveDoubts()
    t.deepEqual(await figuresOf(key), { spent: point.logs * cost, leased: 0, process: null })
    await eventually(async () => (await askBeside(key)) === 200, withinMs, 'the rest to be free')
    await eventually(async () => (await figuresOf(key)).spent === (point.logs + 1) * cost, withinMs, 'its settlement')
    t.deepEqual(await watch.faults(), [])
  })

test.serial('G: what is on its way while its budget is reset or raised settles into the budget that it was reserved from', async (t) => {
  const key = await makeKey()
  const old = await atProvider(key)
  await manage(beside.origin, 'PUT', `/api-keys/${key.id}`, { reset_usage: true })
  await eventually(async () => (await askBeside(key)) === 200, withinMs, 'the new budget')
  await assertAnswered(answered(key, old.ended, old.response))
  const shown = async () => JSON.stringify((await manage(beside.origin, 'GET', `/api-keys/${key.id}`))['usage_limits'])
  await eventually(async () => (await figuresOf(key)).spent === 2 * cost && (await figuresOf(key)).leased === 0, withinMs, 'settlements')
  t.regex(await shown(), /"current_usage":0.000225\b/, 'the new budget has its own request alone')
  t.deepEqual(await watch.faults(), [])
})

test.serial('after all kills no budget differs from the logs, and none ever granted too much', async (t) => {
  let found = ''
  await eventually(
    async () => {
      found = (await gatehouseHere(['budget', 'doctor'], { env: environment(database.config) })).stdout
      return /^\d+ budgets, 0 that differ from the logs\.$/.test(found.trim()) && Number.parseInt(found, 10) > points.length
    },
    withinMs,
    'the budgets to be what the logs say',
  ).catch((error: unknown) => t.fail(`${String(error)}: ${found}`))
  t.deepEqual(await watch.faults(), [])
  t.true((await watch.looks()) > points.length * 4)
  t.log(`${await watch.looks()} looks`)
})
