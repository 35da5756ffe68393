// Gatehouses under one budget of a dollar and one rate limit, with wrong clocks, clients that leave, processes that are killed and a database that
// is: together they spend at most the dollar, the logs agree with the budget's counter, and no slice stays held. The long form runs with NIGHTLY=1.
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { Client } from 'pg'
import { startEmbedded } from '../../../src/app/database/embedded/embedded.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { manage, storeProvider } from '../../support/admin.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { silent, type TestDatabase } from '../../support/database.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { watchLimits } from '../../support/limit-watch.ts'
import { type Ask, exchange } from '../../support/load.ts'
import { environment, type Gatehouse, startGatehouse } from '../../support/process.ts'
import { skewedClock } from '../../support/skewed-clock.ts'
import { atNight } from '../../support/size.ts'

const rounds = atNight(100, 5)
/** How wrong the clock of each process is. */
const skewsMs = [0, 300_000, -300_000, 1000]
const processes = skewsMs.length
const clients = 500
/** Long, for machines that run much beside. */
const withinMs = 100_000
/** gpt-4o: ten micro-dollars for each token out; prompts cost 25 micro-dollars. */
const [nanoOut, nanoIn] = [10_000, 25_000]
const limitNano = 1_000_000_000
const mostTokens = 80
/** Requests of the rate limit. Each client asks under it now and then. */
const mostHurried = 1000
const hurriedShare = 0.2
const hurried = 'hurried'

/** A PostgreSQL of its own, which can be killed. */
async function startDatabase(): Promise<TestDatabase & { crash(): void }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-budgets-'))
  const server = await startEmbedded({ dataDir, log: silent })
  const { host, port, user, password, name, superuser } = server
  const [file] = globSync('**/postmaster.pid', { cwd: dataDir })
  return {
    config: {
      embedded: false,
      host,
      port,
      user,
      password: new Secret(password),
      name,
      poolSize: 5,
      connectTimeoutMs: 2000,
      ssl: { mode: 'DISABLED', ca: null, cert: null, key: null },
    },
    superuser: { host, port, database: name, ...superuser },
    crash: () => void process.kill(Number(readFileSync(join(dataDir, file ?? ''), 'utf8').split('\n')[0]), 'SIGKILL'),
    async drop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const random = (most: number): number => 1 + Math.floor(Math.random() * most)

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', ...fields })}\n\n`

/** A provider that charges the complete part of its answers, and counts the requests under the rate limit. */
async function startProvider() {
  const emulator = await startEmulator({ record: false })
  let charged = 0
  let hurriedOn = 0
  emulator.script({
    path: /chat/,
    behaviour({ json, closed }) {
      const completion_tokens = random(Number(json['max_tokens']))
      const usage = { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens }
      const isHurried = json['user'] === hurried
      if (isHurried) hurriedOn += 1
      void closed.then(({ complete }) => (charged += complete && !isHurried ? nanoIn + completion_tokens * nanoOut : 0))
      if (json['stream'] !== true)
        return { body: JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }], usage }) }
      const words = Array.from({ length: 8 }, () => chunk({ choices: [{ index: 0, delta: { content: 'word ' } }] }))
      const body = `${words.join('')}${chunk({ choices: [], usage })}data: [DONE]\n\n`
      return { body, headers: { 'content-type': 'text/event-stream' }, drip: { bytes: 200, everyMs: random(10) } }
    },
  })
  return { emulator, charged: () => charged, hurriedOn: () => hurriedOn }
}

interface Spender {
  readonly gatehouses: readonly Gatehouse[]
  /** With a budget. */
  readonly key: string
  /** With a rate limit. */
  readonly hurriedKey: string
}

/** Clients that ask and ask, of which some leave before the answer. `stop` resolves with how often each status came. */
function startClients({ gatehouses, key, hurriedKey }: Spender) {
  const statuses: Record<string, number> = {}
  const ending = new AbortController()
  const all = Promise.all(
    Array.from({ length: clients }, async (_, at) => {
      for (let round = at; !ending.signal.aborted; round += 1) {
        const { origin } = gatehouses[round % processes] ?? { origin: '' }
        const hurries = Math.random() < hurriedShare
        const status = await (hurries ? askOnce(origin, hurriedKey, hurried) : askOnce(origin, key))
        const told = hurries ? `${hurried} ${status}` : String(status)
        statuses[told] = (statuses[told] ?? 0) + 1
        if (status !== 200) await sleep(random(100))
      }
    }),
  )
  return {
    async stop() {
      ending.abort()
      await all
      return statuses
    },
  }
}

function askOnce(origin: string, key: string, user = 'spender'): Promise<number | null> {
  const stream = Math.random() < 0.3
  const ask = {
    url: `${origin}/v1/chat/completions`,
    headers: { 'x-service-api-key': key, 'x-service-provider': '@emulated' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], stream, user, max_tokens: random(mostTokens) }),
  }
  return Math.random() < 0.1 ? leave(ask) : exchange(ask).then(({ status }) => status)
}

async function leave({ url, headers, body }: Ask): Promise<null> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: body ?? null,
    signal: AbortSignal.timeout(random(30)),
  }).catch(() => null)
  await answer?.text().catch(() => {})
  return null
}

test(`A, C, F and H: ${clients} clients of ${processes} processes under $1, killed ${rounds} times, with PostgreSQL too: never more is spent`, async (t) => {
  t.timeout(atNight(3_600_000, 600_000))
  const database = await startDatabase()
  t.teardown(() => database.drop())
  const provider = await startProvider()
  t.teardown(() => provider.emulator.stop())
  const migrated = await gatehouseHere(['migrate'], { env: environment(database.config) })
  t.is(migrated.status, 0, migrated.stderr)
  const watch = await watchLimits(database.superuser, { '%:usage:%': limitNano, '%:requests:%': mostHurried })
  const start = (skewMs = 0) =>
    startGatehouse({ on: database, readyWithinMs: withinMs, env: { ...skewedClock(skewMs), LIMITS_WHEN_UNAVAILABLE: 'deny' } })
  const first = await start()
  const gatehouses = [first, ...(await Promise.all(skewsMs.slice(1).map(start)))]
  t.teardown(() => Promise.all(gatehouses.map((one) => one.signal('SIGKILL'))))
  await storeProvider(first.origin, { slug: 'emulated', url: provider.emulator.url })
  const makeKey = async (limits: object) =>
    String((await manage(first.origin, 'POST', '/api-keys/workspace/service', { name: 'k', scopes: ['completions.write'], ...limits })).key)
  const key = await makeKey({ usage_limits: { type: 'cost', credit_limit: 1, output_policy: 'strict' } })
  const hurriedKey = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rpd', value: mostHurried }] })
  const granted = () =>
    look<{ amount: string }>(
      database,
      `SELECT coalesce(sum(v.value::text::bigint), 0) AS amount FROM limit_counters, jsonb_each(granted) v WHERE owner_id IS NOT NULL`,
    )
  let highest = 0
  const clientsOf = startClients({ gatehouses, key, hurriedKey })
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < 10; at += 1) {
      highest = Math.max(highest, Number((await granted())?.amount ?? 0))
      await sleep(100)
    }
    const victim = gatehouses[round % processes] ?? first
    await victim.signal('SIGKILL')
    if (round % 3 === 1) database.crash()
    await victim.restart({ untilReady: false })
  }
  await Promise.all(gatehouses.map((one) => one.ready()))
  await sleep(1000)
  const statuses = await clientsOf.stop()
  t.true((statuses['200'] ?? 0) > 500 && (statuses[`${hurried} 200`] ?? 0) > 100, JSON.stringify(statuses))

  await eventually(
    async () => {
      await look(database, 'SELECT keep_limits()')
      return (await look<{ n: number }>(database, leasedOfBudgets))?.n === 0
    },
    withinMs,
    'nothing of the budget to be leased',
  )
  let found = ''
  await eventually(
    async () => {
      await look(database, `UPDATE limit_doubts SET since = since - interval '1 hour'`)
      await look(database, `SELECT resolve_doubts('1 minute', true)`)
      found = (await gatehouseHere(['budget', 'doctor'], { env: environment(database.config) })).stdout
      return found.trim() === '1 budgets, 0 that differ from the logs.'
    },
    withinMs,
    'the budget to be what the logs say',
  ).catch((error: unknown) => t.fail(`${String(error)}: ${found}`))
  const spent = Number((await granted())?.amount ?? 0)
  highest = Math.max(highest, spent)
  t.log(
    `${JSON.stringify(statuses)}; highest ${highest}, at the end ${spent} nano-dollars, the provider charged ${provider.charged()}; ` +
      `${provider.hurriedOn()} of ${mostHurried} under the rate limit; ${await watch.looks()} looks`,
  )
  t.true(spent > 0 && highest <= limitNano, `${highest} nano-dollars`)
  t.deepEqual(await watch.faults(), [], 'at the end of every transaction')
  // Requests on their way when their process was killed were not logged, though the provider may have charged them.
  const lost = rounds * (clients / processes) * (nanoIn + mostTokens * nanoOut)
  t.true(provider.charged() - spent <= lost, `the provider charged ${provider.charged()} nano-dollars, ${spent} were counted`)
  t.true(provider.hurriedOn() > 0 && provider.hurriedOn() <= mostHurried, `${provider.hurriedOn()} requests of ${mostHurried}`)
  // The killed processes' slices of the rate limit are held until its window, a day, has passed.
  await look(database, `UPDATE limit_processes SET lives_until = now() - interval '2 days' WHERE lives_until < now()`)
  await look(database, 'SELECT keep_limits()')
  t.is((await look<{ n: number }>(database, 'SELECT count(*)::int AS n FROM limit_leases'))?.n, 0)
})

const leasedOfBudgets = `SELECT count(*)::int AS n FROM limit_leases l JOIN limit_counters c ON c.id = l.counter WHERE c.owner_id IS NOT NULL`

/** Asks the database, which may be down: then there is no answer. */
async function look<Row>({ superuser }: TestDatabase, text: string): Promise<Row | null> {
  const sql = new Client({ ...superuser, connectionTimeoutMillis: 2000 })
  sql.on('error', () => {})
  try {
    await sql.connect()
    return ((await sql.query(text)).rows[0] as Row | undefined) ?? null
  } catch {
    return null
  } finally {
    await sql.end().catch(() => {})
  }
}
