import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let emulator: Emulator
let listed: Control
let open: Control
test.before(async () => {
  emulator = await startEmulator()
  const port = new URL(emulator.url).port
  ;[listed, open] = await Promise.all([
    startControl({}, { ALLOWED_CUSTOM_HOSTS: `stored-elsewhere.test, 127.0.0.1:${port}` }),
    startControl(),
  ])
})
test.after.always(async () => {
  await listed?.close()
  await open?.close()
  await emulator?.stop()
})

const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

type Headers = Readonly<Record<string, string>>

async function chat({ origin }: Control, key: string, headers: Headers): Promise<Answer> {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, authorization: 'Bearer sk-own', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
}

const errorOf = ({ body }: Answer) =>
  (body['error'] ?? {}) as { readonly code?: string; readonly message?: string; readonly param?: string }
const toHost = (url: string): Headers => ({ 'x-service-provider': 'openai', 'x-service-custom-host': url })
const inline = (config: object): Headers => ({ 'x-service-config': JSON.stringify(config) })
const webhook = (url: string) => [{ 'default.webhook': { webhookURL: url }, deny: false }]

const credentials = { apiKey: 'k' }
/** The key of this partner contains the address of its service. */
const telling = `${b64({ alg: 'none' })}.${b64({ opaque: { 'apex-url': 'collector.example.com' } })}.`
/** Checks whose credentials name a host otherwise than as a URL. */
const hostsOfPartners: readonly object[] = [
  { 'pangea.textGuard': { credentials: { ...credentials, domain: 'collector.example.com' } } },
  { 'javelin.guardrails': { credentials: { ...credentials, domain: 'collector.example.com', application: 'a' } } },
  { 'promptsecurity.protectPrompt': { credentials: { ...credentials, apiDomain: 'collector.example.com' } } },
  { 'lasso.classify': { credentials: { ...credentials, apiEndpoint: 'https://collector.example.com' } } },
  { 'acuvity.scan': { credentials: { apiKey: telling } } },
]

async function store(control: Control, { adminKey }: Tenant, url: string): Promise<Answer> {
  const slug = `p-${randomUUID()}`
  const account = {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-stored',
    configurations: { custom_host: url },
    default_provider_slug: slug,
  }
  return control.call(adminKey, 'POST', '/integrations', account)
}

test('ALLOWED_CUSTOM_HOSTS bounds what requests and stored things name', async (t) => {
  const tenant = await listed.createTenant(`org-${randomUUID()}`)
  const key = tenant.workspaceKey
  t.is((await chat(listed, key, toHost(emulator.url))).status, 200)
  const refused: readonly Headers[] = [
    toHost('https://api.example.com/v1'),
    toHost('http://127.0.0.1:9'),
    inline({ provider: 'openai', custom_host: 'https://api.example.com/v1' }),
    { 'x-service-provider': 'azure-ai', 'x-service-azure-foundry-url': 'https://api.example.com' },
    { ...toHost(emulator.url), ...inline({ input_guardrails: webhook('https://hook.example.com/x') }) },
    ...hostsOfPartners.map((check) => Object.assign(inline({ input_guardrails: [check] }), toHost(emulator.url))),
  ]
  for (const headers of refused) {
    const answer = await chat(listed, key, headers)
    t.is(errorOf(answer).code, 'blocked_host', answer.text)
    t.regex(errorOf(answer).message ?? '', /ALLOWED_CUSTOM_HOSTS/)
  }
  t.is((await store(listed, tenant, emulator.url)).status, 200)
  t.regex(errorOf(await store(listed, tenant, 'https://api.example.com/v1')).message ?? '', /ALLOWED_CUSTOM_HOSTS/)
  const jwt = { jwks_url: 'https://issuer.example.com/keys' }
  t.is(errorOf(await listed.call(tenant.adminKey, 'PUT', '/admin/organisation', { settings: { jwt } })).param, 'settings.jwt.jwks_url')
})

test('an organisation narrows its own, and only stored hosts serve when it says so', async (t) => {
  const [narrow, free] = [await open.createTenant(`org-${randomUUID()}`), await open.createTenant(`org-${randomUUID()}`)]
  t.is((await store(open, narrow, emulator.url)).status, 200)
  const { data } = (await open.call(narrow.workspaceKey, 'GET', '/providers')).body as { data: readonly { slug: string }[] }
  const stored = { 'x-service-provider': `@${data[0]?.slug ?? ''}`, authorization: '' }
  const set = async (hosts: readonly string[] | null) => {
    const answer = await open.call(narrow.adminKey, 'PUT', '/admin/organisation', { settings: { allowed_custom_hosts: hosts } })
    t.is(answer.status, 200, answer.text)
    await open.refresh()
  }
  const statuses = async () => [
    (await chat(open, narrow.workspaceKey, toHost(emulator.url))).status,
    (await chat(open, narrow.workspaceKey, stored)).status,
    (await chat(open, free.workspaceKey, toHost(emulator.url))).status,
  ]
  t.deepEqual(await statuses(), [200, 200, 200])
  await set(['stored'])
  t.deepEqual(await statuses(), [400, 200, 200])
  await set(['*.example.com'])
  t.deepEqual(await statuses(), [400, 400, 200])
  await set(['127.0.0.0/8'])
  t.deepEqual(await statuses(), [200, 200, 200])
  const shown = await open.call(narrow.adminKey, 'GET', '/admin/organisation')
  t.deepEqual((shown.body['settings'] as Record<string, unknown>)['allowed_custom_hosts'], ['127.0.0.0/8'])
  await set(null)
  t.deepEqual(await statuses(), [200, 200, 200])
  for (const wrong of ['https://a.example', 'a b', '*', 'a.example:0', ''])
    t.is(
      (await open.call(narrow.adminKey, 'PUT', '/admin/organisation', { settings: { allowed_custom_hosts: [wrong] } })).status,
      400,
      wrong,
    )
})
