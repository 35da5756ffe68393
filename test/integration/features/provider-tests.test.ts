import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator
const key = 'sk-tried-0123456789abcdef'

test.before(async () => {
  emulator = await startEmulator()
  control = await startControl()
  acme = await control.createTenant('acme')
  const stored = { name: 's', slug: 's', ai_provider_id: 'openai', key, configurations: { custom_host: emulator.url } }
  const made = await control.call(acme.adminKey, 'POST', '/integrations', stored)
  if (made.status !== 200) throw new Error(made.text)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

type Fields = Readonly<Record<string, unknown>>
interface Step extends Fields {
  readonly step: string
  readonly status: string
  readonly message: string
}

const tryOne = (body: Fields, caller = acme.adminKey) => control.call(caller, 'POST', '/integrations/test', body)
const account = (more: Fields = {}) => ({ ai_provider_id: 'openai', key, configurations: { custom_host: emulator.url }, ...more })
const stepsOf = (body: Fields) => (body['steps'] as readonly Step[]).map(({ step, status }) => `${step} ${status}`)
const stepOf = (body: Fields, name: string) => (body['steps'] as readonly Step[]).find(({ step }) => step === name)
const json = { 'content-type': 'application/json' }

test.serial('an account that is good passes every step, and nothing is stored', async (t) => {
  const { status, body, text } = await tryOne(account())
  t.is(status, 200, text)
  t.like(body, { object: 'integration_test', passed: true, ai_provider_id: 'openai', origin: emulator.origin })
  t.deepEqual(stepsOf(body), ['address passed', 'name passed', 'connection passed', 'credential passed', 'models passed'])
  t.true((body['models'] as { readonly total: number }).total > 0)
  t.true((body['steps'] as readonly Step[]).every(({ execution_time: ms }) => typeof ms === 'number'))
  t.like(emulator.requests.at(-1), { method: 'GET', url: '/v1/models' })
  t.is(emulator.requests.at(-1)?.headers.authorization, `Bearer ${key}`)
  const { body: list } = await control.call(acme.adminKey, 'GET', '/integrations')
  t.is(list['total'], 1)
})

test.serial('a stored account is tried by its slug', async (t) => {
  const { status, body, text } = await control.call(acme.adminKey, 'POST', '/integrations/s/test')
  t.is(status, 200, text)
  t.like(body, { passed: true, origin: emulator.origin })
  t.false(text.includes(key))
})

test.serial('a credential that is refused is told apart, and never repeated', async (t) => {
  const words = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.`, type: 'invalid_request_error' } })
  const undo = emulator.script({ path: '/models', behaviour: { status: 401, headers: json, body: words } })
  const { body, text } = await tryOne(account())
  undo()
  t.is(body['passed'], false)
  t.deepEqual(stepsOf(body), ['address passed', 'name passed', 'connection passed', 'credential failed', 'models skipped'])
  t.is(stepOf(body, 'credential')?.message, 'The provider answered 401: Incorrect API key provided: [secret].')
  t.false(text.includes(key))
})

/** The ways in which an answer repeats a secret. */
const repeats: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in base64': (secret) => Buffer.from(`user:${secret}`).toString('base64'),
  'in hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
  'for a URL': (secret) => encodeURIComponent(secret),
  'escaped twice': (secret) => JSON.stringify(JSON.stringify({ secret })),
  'at the end of a long message': (secret) => `${'x'.repeat(280)}${secret}`,
}
const odd = 'odd"key/with+signs=0123456789'

for (const [how, repeat] of Object.entries(repeats))
  test.serial(`a secret that comes back ${how} is hidden, in errors and in names of models`, async (t) => {
    const custom = 'custom-header-0123456789'
    const configurations = { custom_host: emulator.url, custom_headers: { 'x-own': custom } }
    for (const one of [key, odd]) {
      const said = [one, custom].map(repeat)
      for (const [status, answer] of [
        [401, { error: { message: said.join(' ') } }],
        [401, { error: { message: said.toReversed().join(' ') } }],
        [200, { object: 'list', data: said.map((id) => ({ id, object: 'model' })) }],
      ] as const) {
        const undo = emulator.script({ path: '/models', behaviour: { status, headers: json, body: JSON.stringify(answer) } })
        const { text } = await tryOne(account({ key: one, configurations }))
        undo()
        t.regex(text, /\[secret|"total":0/)
        for (const secret of [one, custom]) for (const shown of [secret.slice(0, 8), repeat(secret)]) t.false(text.includes(shown), text)
      }
    }
  })

test.serial('a provider without a list of models says nothing of the credential', async (t) => {
  const undo = emulator.script({ path: '/models', behaviour: { status: 404, headers: json, body: '{}' } })
  const { body } = await tryOne(account())
  undo()
  t.deepEqual(stepsOf(body).slice(3), ['credential skipped', 'models skipped'])
})

test.serial('hosts that may not be reached, and hosts that are not there', async (t) => {
  const blocked = await tryOne(account({ configurations: { custom_host: 'http://169.254.169.254/v1' } }))
  t.deepEqual(stepsOf(blocked.body).slice(0, 2), ['address failed', 'name skipped'])
  t.like(stepOf(blocked.body, 'address'), { code: 'blocked_host' })
  const closed = await startEmulator()
  await closed.stop()
  const { body } = await tryOne(account({ configurations: { custom_host: closed.url } }))
  t.deepEqual(stepsOf(body), ['address passed', 'name passed', 'connection failed', 'credential skipped', 'models skipped'])
  t.like(stepOf(body, 'connection'), { code: 'upstream_unreachable' })
})

test.serial('of a signed cloud a refused empty body shows that the signature was taken', async (t) => {
  const undo = emulator.script({ path: '/converse', behaviour: { status: 400, headers: json, body: '{"message":"messages is missing"}' } })
  const configurations = {
    aws_auth_type: 'accessKey',
    aws_region: 'eu-west-1',
    aws_access_key_id: 'AKIDEXAMPLE',
    aws_secret_access_key: 'a-secret-of-aws',
    custom_host: emulator.origin,
  }
  const { body, text } = await tryOne({ ai_provider_id: 'bedrock', configurations })
  undo()
  t.deepEqual(stepsOf(body).slice(3), ['credential passed', 'models skipped'], text)
  t.regex(emulator.requests.at(-1)?.headers.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/)
})

test.serial('what could not be stored cannot be tried, and the scope is asked for', async (t) => {
  t.is((await tryOne({ ai_provider_id: 'none-such', key })).status, 400)
  t.is((await tryOne({ ai_provider_id: 'openai', key, configurations: { aws_region: 'x' } })).status, 400)
  const reader = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['workspace_integrations.read'] })
  t.is((await tryOne(account(), reader)).status, 403)
  t.is((await control.call(reader, 'POST', '/integrations/s/test')).status, 403)
  t.is((await control.call(acme.sideKey, 'POST', '/integrations/s/test')).status, 404)
})

test('the catalogue tells the providers of the level with their fields', async (t) => {
  const { status, body, text } = await control.call(acme.workspaceKey, 'GET', '/catalogue/providers')
  t.is(status, 200, text)
  const rows = body['data'] as readonly (Fields & { readonly id: string; readonly fields: readonly Fields[] })[]
  t.is(rows.length, 74)
  const azure = rows.find(({ id }) => id === 'azure-openai')
  const field = (name: string) => azure?.fields.find((one) => one['name'] === name)
  t.like(field('azure_resource_name'), { kind: 'text', required: true, secret: false })
  t.like(field('azure_entra_client_secret'), { secret: true, needed_with: [{ field: 'azure_auth_mode', value: 'entra', or_key: false }] })
  t.deepEqual(field('azure_auth_mode')?.['choices'], ['default', 'entra', 'entraFederated', 'managed', 'workload'])
  t.like(
    rows.find(({ id }) => id === 'anthropic'),
    { name: 'Anthropic', key: 'required', lists_models: true },
  )
  const one = await control.call(acme.workspaceKey, 'GET', '/catalogue/providers?operation=countTokens')
  t.deepEqual(
    (one.body['data'] as readonly Fields[]).map(({ id }) => id),
    ['anthropic'],
  )
  t.false(text.includes('"secret_access_key"'))
})
