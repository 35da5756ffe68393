import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
/** The provider of the requests that are really sent. */
let called: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator, called] = await Promise.all([startControl(), startEmulator(), startEmulator()])
  acme = await control.createTenant('acme')
  for (const [slug, { url }] of Object.entries({ p: emulator, q: called })) {
    const account = { name: slug, slug, ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: url } }
    const { status, text } = await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: slug })
    if (status !== 200) throw new Error(text)
  }
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
  await called?.stop()
})

type Body = Readonly<Record<string, unknown>>
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const explain = (body: Body, key = acme.workspaceKey) => control.call(key, 'POST', '/explain', body)

test('a request is explained for the key that asks, and nobody is called', async (t) => {
  const { status, body, text } = await explain({ path: '/chat/completions', headers: { 'X-Service-Config': 'c' }, body: chat })
  t.is(status, 200, text)
  const [target] = body['targets'] as readonly Body[]
  t.like(target, { provider_slug: 'p', error: null, request: { url: `${emulator.url}/chat/completions`, body: { ...chat, seed: 1 } } })
  t.like(body, { object: 'explanation', operation: 'chatComplete', config: { slug: 'c', version: 1, source: 'stored' } })
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

/** Sends a request through the gateway; returns the id of its log once it is there. */
async function logOf(headers: Readonly<Record<string, string>>, body: Body = chat, key = acme.workspaceKey): Promise<string> {
  const answer = await send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': key, ...headers },
    body: JSON.stringify(body),
  })
  const id = String(answer.headers['x-service-request-id'])
  await eventually(async () => (await control.sql.query('SELECT id FROM logs WHERE id = $1', [id])).rows.length > 0, 10_000)
  return id
}

test('a logged request is explained as it would go today, beside what became of it then', async (t) => {
  const created = await control.call(acme.workspaceKey, 'POST', '/configs', {
    name: 'moving',
    slug: 'moving',
    config: {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@q', override_params: { seed: 1 } }, { provider: '@q' }],
      input_guardrails: [{ 'default.regexReplace': { rule: 'secret', redactText: '#' }, async: false }],
    },
  })
  t.is(created.status, 200, created.text)
  const unscript = called.script({ headers: { 'x-team': 'blue' }, behaviour: { status: 500 }, times: 1 })
  const id = await logOf({ 'x-service-config': 'moving', 'x-team': 'blue' }, { ...chat, messages: [{ role: 'user', content: 'a secret' }] })
  unscript()
  const changed = await control.call(acme.workspaceKey, 'PUT', '/configs/moving', {
    config: { provider: '@q', override_params: { seed: 2 } },
  })
  t.is(changed.status, 200, changed.text)
  const sent = called.requests.length
  const { status, body, text } = await explain({ log_id: id })
  t.is(status, 200, text)
  const [target] = body['targets'] as readonly Body[]
  t.like(target, { provider_slug: 'q', error: null })
  t.like(target?.['request'], { body: { ...chat, messages: [{ role: 'user', content: 'a #' }], seed: 2 }, headers: { 'x-team': 'blue' } })
  t.like(body, { config: { slug: 'moving', version: 2 }, operation: 'chatComplete' })
  const logged = body['logged'] as Readonly<Record<string, readonly Body[]>>
  t.like(logged, { id, status: 200, config: { slug: 'moving', version: 1 }, option: 'config.targets[1]', provider_slug: 'q' })
  t.deepEqual(
    logged['attempts']?.map((attempt) => attempt['status']),
    [500, 200],
  )
  t.like((logged['hook_results'] as unknown as Body)['before_request_hooks'], [{ transformed: true, verdict: true }])
  t.is(called.requests.length, sent)
})

test('a log that does not hold its request is not explained, and says why', async (t) => {
  const notKept = await logOf({ 'x-service-provider': '@q', 'x-service-debug': 'false' })
  const inline = await logOf({ 'x-service-config': JSON.stringify({ provider: '@q', override_params: { seed: 3 } }) })
  const cases: readonly (readonly [body: Body, status: number, message: RegExp])[] = [
    [{ log_id: notKept }, 400, /body was not kept/],
    [{ log_id: inline }, 400, /own config, which no log keeps/],
    [{ log_id: crypto.randomUUID() }, 404, /log/],
    [{ log_id: inline, path: '/chat/completions' }, 400, /log says this already/],
  ]
  for (const [body, status, message] of cases) {
    const answer = await explain(body)
    t.is(answer.status, status, answer.text)
    t.regex(answer.text, message)
  }
  const given = await explain({ log_id: inline, headers: { 'x-service-config': 'c' } })
  t.like((given.body['targets'] as readonly Body[])[0], { error: null, request: { body: { seed: 1 } } })
  t.like(await explain({ log_id: inline }, acme.sideKey), { status: 404 })
  const blind = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['completions.write', 'configs.read'] })
  t.regex((await explain({ log_id: inline }, blind)).text, /logs\.view/)
})
