// Looking at batches: nobody's slow host keeps others waiting, what other attempts cost stays, and no other place is asked than the one that took the batch.
import test from 'ava'
import { settleBatches, settlingOf } from '../../../src/features/costs/batches.jobs.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000
let control: Control
let acme: Tenant
let emulator: Emulator
/** The batches that began, and those of them that have ended. */
let begun = 0
const ended = new Set<string>()

// 100 x 1,250,000 + 10 x 5,000,000
const amount = 175_000_000
const answer = {
  custom_id: 'x',
  response: {
    status_code: 200,
    body: { model: 'gpt-4o', choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
  },
}

function answerOf(method: string, path: string) {
  if (path.includes('/content')) return { status: 200, body: `${JSON.stringify(answer)}\n` }
  const id = method === 'POST' ? `batch_${(begun += 1)}` : (/batch_\w+/.exec(path)?.[0] ?? '')
  const told = ended.has(id) ? { status: 'completed', output_file_id: `file-${id}.` } : { status: 'in_progress' }
  return { status: 200, body: JSON.stringify({ id, object: 'batch', endpoint: '/v1/chat/completions', ...told }) }
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(acme, emulator.url)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function made({ adminKey, workspaceKey }: Tenant, path: string, body: object): Promise<Fields> {
  const response = await control.call(path.startsWith('/api-keys') ? adminKey : workspaceKey, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

/** Stores a provider of a tenant's at a host. */
async function storeProvider(tenant: Tenant, custom_host: string, slug = 'p'): Promise<void> {
  const integration = {
    name: slug,
    slug: `account-${slug}`,
    ai_provider_id: 'openai',
    key: 'sk-of-batches',
    configurations: { custom_host },
  }
  await made(tenant, '/integrations', integration)
  await made(tenant, '/providers', { name: slug, slug, integration_id: `account-${slug}` })
}

async function keyOf(tenant: Tenant): Promise<{ readonly id: string; readonly key: string }> {
  const { id, key } = await made(tenant, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: tenant.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit: 1, on_unpriced: 'allow' },
  })
  return { id: String(id), key: String(key) }
}

const ofBatch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }

/** Begins a batch, and waits until it is noted. Returns the id of its log. */
async function begin(
  { key }: { readonly key: string },
  headers: Readonly<Record<string, string>> = {},
  body: object = ofBatch,
): Promise<string> {
  const response = await send(`${control.origin}/v1/batches`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(response.text)
  const logId = String(response.headers['x-service-request-id'])
  await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the batch to be noted')
  return logId
}

interface Noted {
  readonly batch_id: string
  readonly state: string
  readonly fault: string | null
}

const rowOf = async (logId: string): Promise<Noted | undefined> =>
  (await control.sql.query<Noted>('SELECT batch_id, state, fault FROM provider_batches WHERE id = $1', [logId])).rows[0]

const end = async (logId: string): Promise<unknown> => ended.add((await rowOf(logId))?.batch_id ?? '')

/** Looks at all batches that wait, whenever they were to be looked at. */
async function look(job = settleBatches): Promise<void> {
  await control.sql.query('UPDATE provider_batches SET next_look_at = now()')
  await job.run(control.started.deps)
}

const costOf = async (logId: string) =>
  (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}/cost`)).body as Fields & { readonly adjustments: readonly Fields[] }

test.serial("a host that never ends its answers holds up no other organisation's batch, and gets four looks at once", async (t) => {
  const other = await control.createTenant('slow')
  const slow = await startEmulator()
  t.teardown(() => slow.stop())
  slow.script({ behaviour: { status: 200, body: '{ "status": "completed" }', hang: 'mid-body', hangAt: 1 } })
  slow.script({ method: 'POST', behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(other, slow.url)
  const [theirKey, ourKey] = [await keyOf(other), await keyOf(acme)]
  const theirs: string[] = []
  for (let batch = 0; batch < 6; batch += 1) theirs.push(await begin(theirKey))
  const ours = await begin(ourKey)
  await end(ours)
  await control.sql.query(`UPDATE provider_batches SET next_look_at = CASE WHEN id = $1 THEN now() ELSE now() - interval '1 hour' END`, [
    ours,
  ])
  const run = settleBatches.run(control.started.deps)
  const looks = () => slow.requests.filter(({ method }) => method === 'GET').length
  await eventually(async () => looks() === 4 && (await rowOf(ours))?.state === 'settled', withinMs, 'our batch to be settled')
  const late = await begin(ourKey)
  await end(late)
  await control.sql.query('UPDATE provider_batches SET next_look_at = now() WHERE id = $1', [late])
  await eventually(async () => (await rowOf(late))?.state === 'settled', withinMs, 'one that comes due meanwhile to be settled')
  t.is(looks(), 4)
  await slow.stop()
  await run
  for (const batch of theirs) t.is((await rowOf(batch))?.state, 'open')
})

for (const [name, bounds, behaviour, fault] of [
  ['drips', { timeMs: 300, bytes: 1e9 }, { drip: { bytes: 1, everyMs: 50 } }, 'The answers of the batch did not come whole within 300 ms.'],
  ['has no end', { timeMs: 60_000, bytes: 100_000 }, { endless: true }, 'The answers of the batch are longer than 100000 bytes.'],
] as const)
  test.serial(`a file of answers that ${name} is given up, and charged when it comes`, async (t) => {
    const id = await begin(await keyOf(acme))
    await end(id)
    const stop = emulator.script({ path: '/content', behaviour: { status: 200, body: 'x'.repeat(1000), ...behaviour } })
    await look(settlingOf(bounds))
    stop()
    t.like(await rowOf(id), { state: 'open', fault })
    t.deepEqual((await costOf(id)).adjustments, [])
    await look()
    t.is((await costOf(id))['total_pico_usd'], String(amount))
  })

test.serial('a batch that ended without a word of its answers is not free', async (t) => {
  const id = await begin(await keyOf(acme))
  const body = JSON.stringify({ id: 'batch', object: 'batch', status: 'completed', endpoint: '/v1/chat/completions', output_file_id: null })
  const stop = emulator.script({ method: 'GET', path: '/batches', behaviour: { status: 200, body } })
  await look()
  stop()
  t.like(await rowOf(id), { state: 'open', fault: 'The provider keeps the answers of the batch where Gatehouse cannot read them.' })
  t.like(await costOf(id), { state: 'unpriced', adjustments: [] })
})
