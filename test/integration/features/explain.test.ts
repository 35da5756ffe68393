import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  const { status, text } = await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' })
  if (status !== 200) throw new Error(text)
  const made = await control.call(acme.workspaceKey, 'POST', '/configs', {
    name: 'c',
    slug: 'c',
    config: { provider: '@p', override_params: { seed: 1 } },
  })
  if (made.status !== 200) throw new Error(made.text)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

type Body = Readonly<Record<string, unknown>>
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const explain = (body: Body, key = acme.workspaceKey) => control.call(key, 'POST', '/explain', body)

test('a request is explained for the key that asks, and nobody is called', async (t) => {
  const { status, body, text } = await explain({ path: '/chat/completions', headers: { 'X-Service-Config': 'c' }, body: chat })
  t.is(status, 200, text)
  const [target] = body['targets'] as readonly Body[]
  t.like(target, { provider_slug: 'p', error: null, request: { url: `${emulator.url}/chat/completions`, body: { ...chat, seed: 1 } } })
  t.like(body, { object: 'explanation', operation: 'chatComplete', config: { slug: 'c', source: 'stored' } })
  t.is(emulator.requests.length, 0)
})

test('a header that would send it after all counts for nothing', async (t) => {
  const headers = { 'x-service-config': 'c', 'x-service-explain': 'false', 'X-SERVICE-EXPLAIN': 'false', 'Content-Type': 'text/plain' }
  const { status, body } = await explain({ path: '/chat/completions', headers, body: chat })
  t.is(status, 200)
  t.is(body['object'], 'explanation')
  t.is(emulator.requests.length, 0)
})

const wrong: readonly (readonly [what: string, body: Body, message: RegExp])[] = [
  ['no path', { body: chat }, /path/],
  ['a path with the version', { path: '/v1/chat/completions' }, /below \/v1/],
  ['another host', { path: 'https://example.com/' }, /below \/v1/],
  ['a path of the control plane', { path: '/secret-references', body: {} }, /path of the control plane/],
  ['a credential', { path: '/chat/completions', headers: { Authorization: 'Bearer x' } }, /leave credentials and framing out/],
  ['a key of ours', { path: '/chat/completions', headers: { 'x-service-api-key': 'x' } }, /leave credentials and framing out/],
  ['a length', { path: '/chat/completions', headers: { 'Content-Length': '1' } }, /leave credentials and framing out/],
  ['a line break', { path: '/chat/completions', headers: { 'x-a': 'b\r\nx-c: d' } }, /printable/],
  [
    'a config that there is not',
    { path: '/chat/completions', headers: { 'x-service-config': 'none' }, body: chat },
    /would be refused: There is no config \\"none/,
  ],
  ['no target', { path: '/chat/completions', body: chat }, /would be refused|missing_provider/],
]

for (const [what, body, message] of wrong)
  test(`refused, or told: ${what}`, async (t) => {
    const { status, text } = await explain(body)
    t.true(status === 400 || (status === 200 && text.includes('"error":{')), text)
    t.regex(text, message)
  })

test('what Gatehouse answers itself has no target', async (t) => {
  const { status, body, text } = await explain({ method: 'GET', path: '/models' })
  t.is(status, 200, text)
  t.like(body, { answered_by: 'gatehouse', targets: [] })
})

test('it takes the scope configs.read', async (t) => {
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['completions.write'] })
  t.is((await explain({ path: '/chat/completions', body: chat }, key)).status, 403)
})

test('another workspace sees neither the config nor the provider', async (t) => {
  const { text } = await explain({ path: '/chat/completions', headers: { 'x-service-config': 'c' }, body: chat }, acme.sideKey)
  t.regex(text, /There is no config/)
})
