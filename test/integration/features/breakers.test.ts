import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let beside: string
let bad: Emulator
let good: Emulator

test.before(async () => {
  ;[control, bad, good] = await Promise.all([startControl(), startEmulator(), startEmulator()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  beside = await control.openBeside()
  bad.script({ behaviour: { status: 500 } })
  const config = {
    strategy: { mode: 'fallback', cb_config: { failure_threshold: 2 } },
    targets: [bad, good].map(({ url }) => ({ provider: 'openai', api_key: 'sk-of-the-config', custom_host: url })),
  }
  const stored = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'two', slug: 'pc-two', config })
  if (stored.status !== 200) throw new Error(stored.text)
})
test.after.always(async () => {
  await control?.close()
  await bad?.stop()
  await good?.stop()
})

/** Generous: the machine may be busy. */
const withinMs = 15_000

const ask = (origin: string) =>
  send(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json', 'x-service-config': 'pc-two' },
    body: '{"model":"m","messages":[]}',
  })
const listed = async (tenant: Tenant) => {
  const answer = await control.call(tenant.workspaceKey, 'GET', '/breakers')
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body['data'] as Readonly<Record<string, string>>[]
}

test.serial(
  'a breaker that opens in one process leaves its target out in the other, is listed, and is closed by hand in both',
  async (t) => {
    await ask(control.origin)
    const answer = await ask(control.origin)
    t.is(answer.status, 200, answer.text)
    t.is(bad.requests.length, 2)
    await eventually(async () => (await listed(acme)).length === 1, withinMs)
    const [row] = await listed(acme)
    t.like(row, { config: 'pc-two', option: 'config.targets[0]', provider: 'openai', state: 'open', object: 'breaker' })
    t.false(JSON.stringify(row).includes('sk-of-the-config'))
    await eventually(async () => {
      const before = bad.requests.length
      await ask(beside)
      return bad.requests.length === before
    }, withinMs)
    const metrics = await send(`${control.origin}/metrics`, {})
    t.regex(metrics.text, /gateway_breakers_open 1/)

    t.deepEqual(await listed(other), [])
    const id = String(row?.['id'])
    t.is((await control.call(other.workspaceKey, 'DELETE', `/breakers/${id}`)).status, 404)
    t.is((await control.call(acme.workspaceKey, 'DELETE', '/breakers/nonsense')).status, 404)

    bad.reset()
    t.is((await control.call(acme.workspaceKey, 'DELETE', `/breakers/${id}`)).status, 200)
    for (const origin of [control.origin, beside])
      await eventually(async () => {
        const used = await ask(origin)
        return used.headers['x-service-last-used-option-index'] === 'config.targets[0]'
      }, withinMs)
    t.deepEqual(await listed(acme), [])
  },
)

test.serial('the log of a request with several attempts tells of each over the API', async (t) => {
  bad.script({ behaviour: { status: 503, body: '{"error":{"message":"busy"}}' } })
  const { headers } = await ask(control.origin)
  const read = () => control.call(acme.workspaceKey, 'GET', `/logs/${String(headers['x-service-request-id'])}`)
  await eventually(async () => (await read()).status === 200, withinMs)
  const attempts = (await read()).body['attempts'] as Readonly<Record<string, unknown>>[]
  t.like(attempts[0], { option: 'config.targets[0]', provider: 'openai', status: 503, error: 'busy', response_bytes: 28 })
  t.like(attempts[1], { option: 'config.targets[1]', status: 200, failure: null, error: null })
})

const failing = (url: string, batch: number) => ({
  strategy: { mode: 'fallback' },
  targets: Array.from({ length: 30 }, (_, index) => ({
    provider: 'openai',
    api_key: 'k',
    custom_host: url,
    override_params: { model: `m-${batch}-${index}` },
    cb_config: { failure_threshold: 1, cooldown_interval: 1e12 },
  })),
})

test.serial('a key that opens breakers without end shares so many of them, and none for longer than a day', async (t) => {
  const gone = await startEmulator()
  await gone.stop()
  const count = async () => (await control.call(other.workspaceKey, 'GET', '/breakers')).body['total']
  for (let batch = 1; batch <= 7; batch += 1) {
    const headers = { 'x-service-api-key': other.workspaceKey, 'content-type': 'application/json' }
    const config = { 'x-service-config': JSON.stringify(failing(gone.url, batch)) }
    const answer = await send(`${control.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, ...config },
      body: '{"model":"m"}',
    })
    t.is(answer.status, 502, answer.text)
    await eventually(async () => (await count()) === Math.min(200, batch * 30), withinMs, `batch ${batch}`)
  }
  const [row] = await listed(other)
  t.true(Date.parse(row?.['until'] ?? '') < Date.now() + 25 * 60 * 60 * 1000)
  bad.script({ behaviour: { status: 500 } })
  const shared = async () => (await ask(control.origin)).status === 200 && (await listed(acme)).length === 1
  await eventually(shared, withinMs, 'others share theirs')
  t.is(await count(), 200)
})
