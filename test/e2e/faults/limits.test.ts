// The fate of requests under limits while the database is away.
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { manage, storeProvider } from '../../support/admin.ts'
import { testDatabase } from '../../support/database.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { startTcpProxy } from '../../support/emulator/tcp-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { chat, exchange } from '../../support/load.ts'
import { startGatehouse } from '../../support/process.ts'

const withinMs = 15_000
const warmUpMs = 1500
const budget = { usage_limits: { type: 'tokens', credit_limit: 1_000_000 } }
const rate = { rate_limits: [{ type: 'requests', unit: 'rpd', value: 1_000_000 }] }

/** By the setting: the answers for a key with a budget and one with a rate limit. */
const cases = [
  { env: {}, ofBudget: 503, ofRate: 200 },
  { env: { LIMITS_WHEN_UNAVAILABLE: 'allow' }, ofBudget: 200, ofRate: 200 },
  { env: { LIMITS_WHEN_UNAVAILABLE: 'deny' }, ofBudget: 503, ofRate: 503 },
]

for (const { env, ofBudget, ofRate } of cases)
  test.serial(
    `with ${JSON.stringify(env)} a key with a budget gets ${ofBudget} and one with a rate limit ${ofRate}, told in /readyz and metrics`,
    async (t) => {
      const emulator = await startEmulator({ record: false })
      t.teardown(() => emulator.stop())
      const database = await testDatabase()
      t.teardown(() => database.drop())
      const proxy = await startTcpProxy(database.config)
      t.teardown(() => proxy.stop())
      const gatehouse = await startGatehouse({
        on: database,
        env: { DB_PORT: String(proxy.port), METRICS_ACCESS: 'public', ...env },
      })
      const { origin } = gatehouse
      t.teardown(async () => {
        proxy.heal()
        await gatehouse.stop()
      })
      await storeProvider(origin, { slug: 'emulated', url: emulator.url })
      const make = async (limits: object) =>
        String((await manage(origin, 'POST', '/api-keys/workspace/service', { name: 'k', scopes: ['completions.write'], ...limits })).key)
      const [spender, hurrier] = [await make(budget), await make(rate)]
      const ask = async (key: string) => (await exchange(chat(origin, { key, provider: '@emulated' }))).status
      t.is(await ask(spender), 200)
      t.is(await ask(hurrier), 200)
      const health = async () => JSON.stringify(await (await fetch(`${origin}/readyz`)).json())
      t.false((await health()).includes('"limits"'))
      // The process's notices of the new keys and the provider have settled by then.
      await sleep(warmUpMs)
      t.is(await ask(spender), 200)
      t.is(await ask(hurrier), 200)
      proxy.cut()
      await eventually(async () => (await ask(spender)) === ofBudget && (await ask(hurrier)) === ofRate, withinMs)
      t.is(await ask(spender), ofBudget)
      t.is(await ask(hurrier), ofRate)
      t.true((await health()).includes('"limits":{"status":"warn"'))
      await eventually(async () => /gateway_limits_away(\{[^}]*\})? 1/.test(await (await fetch(`${origin}/metrics`)).text()), withinMs)
      proxy.heal()
      await eventually(async () => (await ask(spender)) === 200 && (await ask(hurrier)) === 200, withinMs)
      await eventually(async () => !(await health()).includes('"limits"'), withinMs)
    },
  )
