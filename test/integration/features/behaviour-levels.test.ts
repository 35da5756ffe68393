// Additions of a release without a route or a field of their own: the level before refuses them by name, their own level takes them.
import test, { type ExecutionContext } from 'ava'
import { compareVersions } from '../../../src/release/version.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

let emulator: Emulator
test.before(async () => {
  emulator = await startEmulator()
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  emulator.script({
    behaviour: { body: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }) },
  })
})
test.after.always(() => emulator?.stop())

interface Case {
  readonly title: string
  readonly edge: readonly [before: string, at: string]
  readonly ask: (control: Control, tenant: Tenant) => Promise<Answer>
  readonly param: string
  readonly status?: number
}

const jwt = (parameters: object) => ({
  name: 'jwt',
  checks: [{ id: 'default.jwt', parameters: { jwks: { keys: [] }, ...parameters } }],
  actions: { onFail: 'block' },
})
const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/r', aws_access_key_id: 'AKIA', aws_secret_access_key: 's' }
const scopes = ['completions.write']

const through = async ({ origin }: Control, { workspaceKey }: Tenant, headers: Readonly<Record<string, string>>): Promise<Answer> => {
  const { status, text } = await send(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': workspaceKey, 'x-service-custom-host': emulator.url, ...headers },
    body: JSON.stringify({ model: 'm', messages: [], max_tokens: 5 }),
  })
  return { status, text, body: JSON.parse(text) as Record<string, unknown> }
}

async function raised(control: Control, { adminKey, workspaceId }: Tenant): Promise<Answer> {
  const body = { name: 'limited', workspace_id: workspaceId, scopes, usage_limits: { type: 'tokens', credit_limit: 60 } }
  const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', body)
  const path = `/api-keys/${String(made.body['id'])}`
  const own = { workspaceKey: String(made.body['key']) } as Tenant
  for (let at = 0; at < 2; at += 1) await through(control, own, { 'x-service-provider': 'openai', authorization: 'Bearer sk' })
  await eventually(async () => Reflect.get(Object((await control.call(adminKey, 'GET', path)).body['usage']), 'spent') === 10, 20_000)
  await control.call(adminKey, 'PUT', path, { usage_limits: { type: 'tokens', credit_limit: 10 } })
  await eventually(async () => (await control.call(adminKey, 'GET', path)).body['status'] === 'exhausted', 20_000)
  const higher = { usage_limits: { type: 'tokens', credit_limit: 50 } }
  const answer = await control.call(adminKey, 'PUT', path, higher)
  if (answer.status !== 200) await control.call(adminKey, 'PUT', path, { ...higher, reset_usage: true })
  const { body: after } = await control.call(adminKey, 'GET', path)
  if (after['status'] !== 'active') throw new Error('Neither the higher limit nor the reset made the key active.')
  return answer
}

async function byManager(control: Control, tenant: Tenant): Promise<Answer> {
  const { workspaceId } = tenant
  const manager = await control.createUser(tenant, { email: 'boss@example.com', workspaces: { [workspaceId]: 'manager' } })
  const other = await control.createUser(tenant, { email: 'other@example.com', workspaces: { [workspaceId]: 'member' } })
  const key = await control.createKey(tenant, { workspaceId, userId: manager, scopes: ['workspace_user_api_keys.create', ...scopes] })
  const own = await control.call(key, 'POST', '/api-keys/workspace/user', { name: 'own', scopes, user_id: manager })
  if (own.status !== 200) throw new Error(own.text)
  return control.call(key, 'POST', '/api-keys/workspace/user', { name: 'other', scopes, user_id: other })
}

const cases: readonly Case[] = [
  {
    title: 'the oldest token of a JWT check',
    edge: ['1.3.2', '1.3.3'],
    ask: (control, { workspaceKey }) => control.call(workspaceKey, 'POST', '/guardrails', jwt({ maxTokenAge: '1d' })),
    param: 'checks[0].parameters.maxTokenAge',
  },
  {
    title: 'the oldest token of a JWT check of a config',
    edge: ['1.3.2', '1.3.3'],
    ask: (control, { workspaceKey }) => {
      const { checks } = jwt({ maxTokenAge: '1d' })
      return control.call(workspaceKey, 'POST', '/configs', { name: 'c', config: { provider: 'openai', input_guardrails: [{ checks }] } })
    },
    param: 'config.input_guardrails[0].checks[0].parameters.maxTokenAge',
  },
  {
    title: 'the region beside a role of an integration',
    edge: ['1.5.1', '1.6.0'],
    ask: (control, { adminKey }) =>
      control.call(adminKey, 'POST', '/integrations', {
        name: 'b',
        ai_provider_id: 'bedrock',
        configurations: { ...role, aws_region: 'eu-west-1' },
      }),
    param: 'configurations.aws_region',
  },
  {
    title: 'the region beside a role of a config',
    edge: ['1.5.1', '1.6.0'],
    ask: (control, { workspaceKey }) => {
      const target = { provider: 'bedrock', ...role, aws_region: 'eu-west-1' }
      const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@p' }, target] }
      return control.call(workspaceKey, 'POST', '/configs', { name: 'c', config })
    },
    param: 'config.targets[1].aws_region',
  },
  {
    title: 'the region beside a role in headers',
    edge: ['1.5.1', '1.6.0'],
    ask: async (control, tenant) => {
      const headers = Object.fromEntries(
        Object.entries({ ...role, aws_region: 'eu-west-1' }).map(([name, value]) => [`x-service-${name.replaceAll('_', '-')}`, value]),
      )
      const answer = await through(control, tenant, { 'x-service-provider': 'bedrock', ...headers })
      // The role cannot be taken on here.
      return answer.text.includes('comes with release') ? answer : { ...answer, status: 200 }
    },
    param: 'aws_region',
  },
  {
    title: 'a period of the budget of a key',
    edge: ['1.6.2', '1.7.0'],
    ask: (control, { workspaceKey }) =>
      control.call(workspaceKey, 'POST', '/api-keys/workspace/service', {
        name: 'k',
        scopes,
        usage_limits: { credit_limit: 5, periodic_reset_days: 3 },
      }),
    param: 'usage_limits.periodic_reset_days',
  },
  {
    title: 'a field of a provider that came later, in a config',
    edge: ['1.6.2', '1.7.0'],
    ask: (control, { workspaceKey }) =>
      control.call(workspaceKey, 'POST', '/configs', { name: 'c', config: { provider: 'openai', oracle_region: 'eu-frankfurt-1' } }),
    param: 'config.oracle_region',
  },
  { title: 'a higher limit of an exhausted budget', edge: ['1.6.2', '1.7.0'], ask: raised, param: 'usage_limits' },
  { title: 'a key that a manager makes for another', edge: ['1.7.3', '1.8.0'], ask: byManager, param: 'user_id', status: 403 },
]

/** What releases brought, by a word that every description of it has. */
const words = { oracle: '1.7.0', anthropic_beta: '1.7.3', vertex_skip_ptu: '1.8.0', azure_entra_scope: '1.11.2' }

/** Every description that an installation gives of itself shows what its level has, and no more. */
async function described(t: ExecutionContext, { control, tenant, level }: { control: Control; tenant: Tenant; level: string }) {
  const catalogues = ['/catalogue/providers', '/catalogue/config-schema', '/catalogue/settings', '/catalogue/checks', '/catalogue/scopes']
  const read = await Promise.all(catalogues.map((path) => control.call(tenant.adminKey, 'GET', path)))
  const texts = [...read.map(({ text }) => text), (await send(`${control.origin}/openapi.json`)).text]
  for (const [word, release] of Object.entries(words)) {
    const showing = [...catalogues, '/openapi.json'].filter((_, at) => texts[at]?.includes(word))
    if (compareVersions(level, release) < 0) t.deepEqual(showing, [], `${word} at ${level}`)
    else t.true(showing.includes('/catalogue/config-schema'), `${word} at ${level}`)
  }
  const rows = read[0]?.body['data'] as readonly { readonly id: string; readonly fields: readonly Record<string, unknown>[] }[]
  const region = rows.find(({ id }) => id === 'bedrock')?.fields.find(({ name }) => name === 'aws_region')
  const beside = ['accessKey', 'serviceRole'].map((value) => ({ field: 'aws_auth_type', value, or_key: false }))
  const always = compareVersions(level, '1.6.0') >= 0
  t.like(region, { required: always, needed_with: always ? [] : beside }, `aws_region at ${level}`)
}

for (const edge of new Set(cases.map((one) => one.edge.join(' ')))) {
  test.serial(`what ${edge.split(' ')[1]} brought is refused before it, and taken from it on`, async (t) => {
    for (const [at, release] of edge.split(' ').entries()) {
      const control = await startControl({}, { RELEASE_LEVEL: release })
      try {
        for (const [index, one] of cases.filter((each) => each.edge.join(' ') === edge).entries()) {
          const tenant = await control.createTenant(`tenant-${index}`)
          const { status, text, body } = await one.ask(control, tenant)
          t.is(status, at === 0 ? (one.status ?? 400) : 200, `${one.title} at ${release}: ${text}`)
          if (at === 0) t.like(body['error'], { param: one.param }, `${one.title}: ${text}`)
          if (at === 0) t.true(text.includes(`release ${edge.split(' ')[1]}`), text)
        }
        await described(t, { control, tenant: await control.createTenant('described'), level: release })
      } finally {
        await control.close()
      }
    }
  })
}
