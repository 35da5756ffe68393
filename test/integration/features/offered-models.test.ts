import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { type TestApp, startApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { addPerson, browse, type Browser, signIn } from '../../support/people.ts'

/** People see the models of a workspace, each with its price and the list that the price is from. */
const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-offered-'))
const workspace = 'default-workspace'
let emulator: Emulator
let app: TestApp
let member: Browser

/** In US cents for a token in price files; in US dollars for a million in integrations. */
const rates = (price: number) => ({ pay_as_you_go: { request_token: { price }, response_token: { price: price * 4 } } })

async function manage(method: string, at: string, body: unknown): Promise<void> {
  const answer = await send(`${app.baseUrl}/v1${at}`, {
    method,
    headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200) throw new Error(answer.text)
}

test.before(async () => {
  emulator = await startEmulator()
  writeFileSync(path.join(folder, 'openai.json'), JSON.stringify({ 'gpt-4o': { pricing_config: rates(0.0005) } }))
  app = await startApp({ env: { MODEL_CONFIGS_PRICING_LOCAL_PATH: folder } })
  const account = { ai_provider_id: 'openai', key: 'sk-offered', configurations: { custom_host: emulator.url } }
  const models = [
    { slug: 'gpt-4o', enabled: true },
    { slug: 'gpt-4o-mini', enabled: true, pricing_config: { type: 'static', ...rates(1) } },
    { slug: 'ours', enabled: true, is_custom: true },
    { slug: 'gpt-4.1', enabled: false },
  ]
  await manage('POST', '/integrations', { ...account, name: 'Named', slug: 'named' })
  await manage('PUT', '/integrations/named/models', { allow_all_models: false, models })
  await manage('POST', '/integrations', { ...account, name: 'Open', slug: 'open' })
  member = await signIn(app, await addPerson(app, { places: { [workspace]: 'member' } }))
})
test.after.always(async () => {
  await app?.stop()
  await emulator?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string
}
interface Page {
  readonly total: number
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly data: readonly Row[]
}

async function list(query = '', browser = member): Promise<Page> {
  const { status, text } = await browse(app, browser, { path: `/v1/catalogue/models${query}` })
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Page
}
const idsOf = ({ data }: Page) => data.map(({ id }) => id)

test('each model has its price, the layer that counts, and those below it', async (t) => {
  const { data } = await list('?provider=named')
  t.deepEqual(
    data.map(({ id }) => id),
    ['@named/gpt-4o', '@named/gpt-4o-mini', '@named/ours'],
  )
  const [listed, own, unpriced] = data
  t.like(listed, { provider: 'named', ai_provider_id: 'openai', kind: 'chat', context_window: 128_000 })
  const { pricing } = listed as unknown as { pricing: Readonly<Record<string, unknown>> }
  t.like(pricing, { currency: 'USD', source: 'local', as_of: null, per_million_tokens: { input: 5, output: 20 } })
  t.is(typeof pricing['age_seconds'], 'number')
  t.like(pricing['overrides'], [{ source: 'built_in', per_million_tokens: { input: 2.5, output: 10 } }])
  t.like(own?.['pricing'], {
    source: 'integration',
    catalogue: null,
    age_seconds: null,
    per_million_tokens: { input: 1, output: 4 },
    overrides: { 0: { source: 'built_in', per_million_tokens: { input: 0.15, output: 0.6 } } },
  })
  t.is(unpriced?.['pricing'], null)
})

test('they are those that the data plane offers', async (t) => {
  const offered = await send(`${app.baseUrl}/v1/models`, { headers: { 'x-service-api-key': app.workspaceKey } })
  const { data } = JSON.parse(offered.text) as { readonly data: readonly Row[] }
  t.true(data.length > 3, 'the provider that allows all models was asked for its list')
  t.deepEqual(
    idsOf(await list()),
    data.map(({ id }) => id),
  )
})

test('they are searched, filtered, and given in pages', async (t) => {
  t.deepEqual(idsOf(await list('?search=4O-MINI&provider=@named')), ['@named/gpt-4o-mini'])
  t.deepEqual(idsOf(await list('?kind=chat&ability=tools&provider=named')), ['@named/gpt-4o', '@named/gpt-4o-mini'])
  t.deepEqual(idsOf(await list('?ability=flying')), [])
  const first = await list('?provider=named&page_size=2')
  t.like(first, { total: 3, has_more: true })
  const second = await list(`?provider=named&page_size=2&after=${first.next_cursor ?? ''}`)
  t.deepEqual([idsOf(second), second.has_more], [['@named/ours'], false])
  t.deepEqual(idsOf(await list('?provider=named&sort=-id')).at(0), '@named/ours')
})

test('keys list them too; who may not list providers, or names a strange workspace, is refused', async (t) => {
  const byKey = await send(`${app.baseUrl}/v1/catalogue/models?provider=named`, { headers: { 'x-service-api-key': app.workspaceKey } })
  t.deepEqual(idsOf(JSON.parse(byKey.text) as Page), ['@named/gpt-4o', '@named/gpt-4o-mini', '@named/ours'])
  const nowhere = await signIn(app, await addPerson(app))
  t.is((await browse(app, nowhere, { path: '/v1/catalogue/models' })).status, 403)
  const elsewhere = await browse(app, member, { path: '/v1/catalogue/models?workspace_id=elsewhere' })
  t.is(elsewhere.status, 403, elsewhere.text)
  const wrong = await browse(app, member, { path: '/v1/catalogue/models?page_size=many' })
  t.is(wrong.status, 400)
  t.is(errorOf(wrong).param, 'page_size')
})

test('the catalogue stands in for a list that cannot be fetched, but not for a host of one’s own', async (t) => {
  const closed = await startApp()
  t.teardown(() => closed.stop())
  const ask = (method: string, at: string, body?: unknown) =>
    send(`${closed.baseUrl}/v1${at}`, {
      method,
      headers: { 'x-service-api-key': at === '/models' ? closed.workspaceKey : closed.adminKey, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const gone = await startEmulator()
  const customHost = gone.url
  await gone.stop()
  // The vendor refuses this key, or cannot be reached at all.
  await ask('POST', '/integrations', { name: 'Vendor', slug: 'vendor', ai_provider_id: 'groq', key: 'gsk-none' })
  await ask('POST', '/integrations', {
    name: 'Own',
    slug: 'own',
    ai_provider_id: 'groq',
    key: 'gsk-none',
    configurations: { custom_host: customHost },
  })
  const rules = { allow_all_models: true, models: [{ slug: 'llama-3.1-8b-instant', enabled: false }] }
  t.is((await ask('PUT', '/integrations/vendor/models', rules)).status, 200)
  const { data } = JSON.parse((await ask('GET', '/models')).text) as { data: readonly (Row & { readonly listed_by: string })[] }
  const models = data.map(({ id }) => id)
  t.true(models.includes('@vendor/llama-3.3-70b-versatile'), models.join())
  t.false(models.includes('@vendor/llama-3.1-8b-instant'))
  t.deepEqual([...new Set(data.map(({ listed_by }) => listed_by))], ['catalogue'])
  t.deepEqual(
    models.filter((id) => id.startsWith('@own/')),
    [],
  )
})
