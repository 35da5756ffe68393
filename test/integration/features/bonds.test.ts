// A bond that was set from above holds: no change of something that it leads to undoes it, and the chat that it binds stays bound.
import test from 'ava'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { keyCredential, personOf, sessionOf, type Credential } from './ranks.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

const answer = JSON.stringify({
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

let control: Control
let emulator: Awaited<ReturnType<typeof startEmulator>>
test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  emulator.script({ behaviour: { body: answer } })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

/** An organisation with a guardrail that blocks, configs with and without it, and a manager of its workspace. */
interface Place {
  readonly tenant: Tenant
  readonly admin: Credential
  readonly manager: Credential
  readonly memberId: string
  readonly guardrailId: string
  readonly configId: string
}

async function asked(by: Credential, method: string, path: string, body?: unknown) {
  const reply = await by.ask(method, path, body)
  if (reply.status !== 200) throw new Error(`${by.name} ${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

const guarded = { provider: '@account', input_guardrails: ['guard'] }
const open = { provider: '@account' }

async function placeOf(name: string): Promise<Place> {
  const tenant = await control.createTenant(name)
  const admin = keyCredential(control, 'admin', tenant.adminKey)
  const [manager, member] = [
    await sessionOf(control, await personOf(control, tenant, 'g'), 'manager'),
    await personOf(control, tenant, 'm'),
  ]
  const { workspaceId: workspace_id } = tenant
  const account = { name: 'Account', slug: 'account', ai_provider_id: 'openai', key: 'sk', configurations: { custom_host: emulator.url } }
  await asked(admin, 'POST', '/integrations', { ...account, workspace_id })
  const checks = [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }]
  const guard = await asked(admin, 'POST', '/guardrails', { name: 'Guard', slug: 'guard', workspace_id, checks, actions: { deny: true } })
  const config = await asked(admin, 'POST', '/configs', { name: 'Guarded', slug: 'guarded', workspace_id, config: guarded })
  await asked(admin, 'POST', '/configs', { name: 'Open', slug: 'open', workspace_id, config: open })
  return { tenant, admin, manager, memberId: member.id, guardrailId: String(guard['id']), configId: String(config['id']) }
}

async function lockedKey({ admin, tenant, memberId }: Place, type: 'service' | 'user', config_id?: string): Promise<string> {
  const defaults = { allow_config_override: false, ...(config_id !== undefined && { config_id }) }
  const key = { name: 'Locked', workspace_id: tenant.workspaceId, scopes: ['completions.write'], defaults }
  return String(
    (await asked(admin, 'POST', `/api-keys/workspace/${type}`, { ...key, ...(type === 'user' && { user_id: memberId }) }))['key'],
  )
}

async function chat(key: string): Promise<number> {
  await control.refresh()
  const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'a secret thing' }] })
  return (await send(`${control.origin}/v1/chat/completions`, { method: 'POST', headers, body })).status
}

type Attempt = readonly [method: string, path: string, body: object | undefined, param: string]

/** A bond, and how a manager tries to lead it elsewhere. */
interface Bond {
  readonly bind: (place: Place) => Promise<string>
  readonly attempts: (place: Place) => readonly Attempt[]
}

const putWorkspace = ({ tenant }: Place, defaults: object) => ['PUT', `/admin/workspaces/${tenant.workspaceId}`, { defaults }] as const

const contents: readonly Attempt[] = [
  ['PUT', '/configs/guarded', { config: open }, 'config'],
  ['PUT', '/guardrails/guard', { actions: { deny: false } }, 'actions'],
]
const defaultAttempts: readonly Attempt[] = [
  ...contents,
  ['POST', '/configs', { name: 'Other', is_default: true, config: open }, 'is_default'],
  ['PUT', '/configs/open', { isDefault: true }, 'is_default'],
  ['PUT', '/configs/guarded', { is_default: false }, 'is_default'],
  ['PUT', '/configs/guarded', { status: 'archived' }, 'status'],
  ['DELETE', '/configs/guarded', undefined, 'slug'],
]
const usersParam = 'defaults.user_api_key_config'

const bonds: Readonly<Record<string, Bond>> = {
  'a config by its slug': { bind: (place) => lockedKey(place, 'service', 'guarded'), attempts: () => contents },
  'a config by its id in upper case': {
    bind: (place) => lockedKey(place, 'service', place.configId.toUpperCase()),
    attempts: () => contents,
  },
  'the default config': {
    async bind(place) {
      await asked(place.admin, 'PUT', '/configs/guarded', { is_default: true })
      return lockedKey(place, 'service')
    },
    attempts: () => defaultAttempts,
  },
  'the default config, of a user key': {
    async bind(place) {
      await asked(place.admin, 'PUT', '/configs/guarded', { is_default: true })
      return lockedKey(place, 'user')
    },
    attempts: (place) => [...defaultAttempts, [...putWorkspace(place, { user_api_key_config: 'open' }), usersParam]],
  },
  'the config of user keys': {
    async bind(place) {
      await asked(place.admin, ...putWorkspace(place, { user_api_key_config: place.configId.toUpperCase() }))
      return lockedKey(place, 'user')
    },
    attempts: (place) => [
      ...contents,
      [...putWorkspace(place, { user_api_key_config: 'open' }), usersParam],
      [...putWorkspace(place, { user_api_key_config: null }), usersParam],
    ],
  },
  'the config of user keys that a manager has set': {
    async bind(place) {
      await asked(place.manager, ...putWorkspace(place, { user_api_key_config: 'guarded' }))
      return lockedKey(place, 'user')
    },
    attempts: (place) => [...contents, [...putWorkspace(place, { user_api_key_config: 'open' }), usersParam]],
  },
}

for (const [at, [name, { bind, attempts }]] of Object.entries(bonds).entries())
  test(`a manager does not undo a bond to ${name}`, async (t) => {
    const place = await placeOf(`bonds-${at}`)
    const key = await bind(place)
    t.is(await chat(key), 446)
    for (const [method, path, body, param] of attempts(place)) {
      const { status, body: said, text } = await place.manager.ask(method, path, body)
      t.is(status, 403, `${method} ${path} ${JSON.stringify(body)}: ${text}`)
      t.like(said, { error: { code: 'AB03', param } })
      t.is(await chat(key), 446)
    }
  })

const otherHost = 'https://elsewhere.example.com'
const moves: Readonly<Record<string, { readonly of: 'integrations' | 'virtual-keys'; readonly config: (slug: string) => object }>> = {
  'a provider': { of: 'integrations', config: (slug) => ({ provider: `@${slug}` }) },
  'a provider in a strategy': {
    of: 'integrations',
    config: (slug) => ({ strategy: { mode: 'fallback' }, targets: [{ provider: `@${slug}` }, { provider: 'openai' }] }),
  },
  'a provider in front of a model': { of: 'integrations', config: (slug) => ({ override_params: { model: `@${slug}/gpt-4o` } }) },
  'a virtual key': { of: 'virtual-keys', config: (slug) => ({ virtual_key: slug }) },
}

for (const [at, [name, { of, config }]] of Object.entries(moves).entries())
  test(`a manager does not lead ${name} elsewhere that a locked config names`, async (t) => {
    const place = await placeOf(`moves-${at}`)
    const { admin, manager, tenant } = place
    const hosted = { custom_host: emulator.url }
    const stored = { name: 'Virtual', provider: 'openai', key: 'sk', configurations: hosted, workspace_id: tenant.workspaceId }
    const { data } = await asked(admin, 'POST', '/virtual-keys', stored)
    const slug = of === 'integrations' ? 'account' : (data as { slug: string }).slug
    const path = `/${of}/${slug}${of === 'integrations' ? '' : `?workspace_id=${tenant.workspaceId}`}`
    await asked(admin, 'PUT', '/configs/guarded', { config: config(slug) })
    const move = (by: Credential, custom_host = otherHost) => by.ask('PUT', path, { key: 'sk', configurations: { custom_host } })
    t.is((await move(manager)).status, 200, 'no key is bound to it')
    t.is((await move(manager, emulator.url)).status, 200)
    const key = await lockedKey(place, 'service', 'guarded')
    t.is(await chat(key), 200)
    for (const configurations of [{ custom_host: otherHost }, { custom_host: null }, null]) {
      const { status, body, text } = await manager.ask('PUT', path, { key: 'sk', configurations })
      t.is(status, 403, text)
      t.like(body, { error: { code: 'AB03', param: 'configurations' } })
    }
    t.is(await chat(key), 200)
    t.is((await manager.ask('DELETE', path)).status, 409)
    for (const free of [{ key: 'sk-new' }, { name: 'Renamed' }, { configurations: hosted }]) {
      const { status, text } = await manager.ask('PUT', path, free)
      t.is(status, 200, text)
    }
    t.is((await move(admin)).status, 200)
  })

test('a manager chooses the default config while no key is bound to it from above', async (t) => {
  const place = await placeOf('unbound')
  await asked(place.admin, 'PUT', '/configs/guarded', { is_default: true })
  await lockedKey(place, 'service', 'guarded')
  const { status, text } = await place.manager.ask('PUT', '/configs/open', { is_default: true })
  t.is(status, 200, text)
})

test('what a reference in upper case names is in use', async (t) => {
  const { admin, tenant, configId, guardrailId } = await placeOf('upper')
  const upper = [configId.toUpperCase(), [guardrailId.toUpperCase()]] as const
  const key = { name: 'Key', workspace_id: tenant.workspaceId, scopes: ['logs.list'], defaults: { config_id: upper[0] } }
  const { id } = await asked(admin, 'POST', '/api-keys/workspace/service', key)
  t.like(await asked(admin, 'GET', `/api-keys/${String(id)}`), { defaults: { config_id: configId } })
  t.is((await admin.ask('DELETE', '/configs/guarded')).status, 409)
  await asked(admin, 'DELETE', `/api-keys/${String(id)}`)
  const workspace = `/admin/workspaces/${tenant.workspaceId}`
  await asked(admin, 'PUT', workspace, { defaults: { user_api_key_config: upper[0] } })
  t.is((await admin.ask('DELETE', '/configs/guarded')).status, 409)
  await asked(admin, 'PUT', workspace, { defaults: { user_api_key_config: null } })
  await asked(admin, 'DELETE', '/configs/guarded')
  await asked(admin, 'PUT', workspace, { defaults: { input_guardrails: upper[1] } })
  t.is((await admin.ask('DELETE', '/guardrails/guard')).status, 409)
  await asked(admin, 'PUT', workspace, { defaults: { input_guardrails: null } })
  const named = { name: 'Named', slug: 'named', workspace_id: tenant.workspaceId, config: { ...open, input_guardrails: upper[1] } }
  await asked(admin, 'POST', '/configs', named)
  t.is((await admin.ask('DELETE', '/guardrails/guard')).status, 409)
})

/** Where a process of an earlier build stores the id of a config as it was sent. */
const writtenByOld: Readonly<
  Record<string, { readonly type: 'service' | 'user'; readonly write: (id: string, workspaceId: string) => readonly [string, string[]] }>
> = {
  'the config of a key': {
    type: 'service',
    write: (id, workspaceId) => [
      `UPDATE api_keys SET defaults = defaults || jsonb_build_object('config_id', $1::text) WHERE workspace_id = $2 AND name = 'Locked'`,
      [id, workspaceId],
    ],
  },
  'the config of user keys': {
    type: 'user',
    write: (id, workspaceId) => [
      `UPDATE workspaces SET defaults = coalesce(defaults, '{}') || jsonb_build_object('user_api_key_config', $1::text) WHERE id = $2`,
      [id, workspaceId],
    ],
  },
}

for (const [at, [name, { type, write }]] of Object.entries(writtenByOld).entries())
  test(`${name} binds that a process of an earlier build stores in capital letters`, async (t) => {
    const place = await placeOf(`old-${at}`)
    const key = await lockedKey(place, type, type === 'service' ? 'guarded' : undefined)
    const [sql, values] = write(place.configId.toUpperCase(), place.tenant.workspaceId)
    t.is((await control.sql.query(sql, values)).rowCount, 1)
    t.is(await chat(key), 446)
    const { status, body, text } = await place.manager.ask('PUT', '/configs/guarded', { config: open })
    t.is(status, 403, text)
    t.like(body, { error: { code: 'AB03', param: 'config' } })
    t.is((await place.admin.ask('DELETE', '/configs/guarded')).status, 409)
  })

const usage_limits = { type: 'cost', credit_limit: 0.000_001 }

/** The places in which an admin limits the costs of a workspace; the last one counts no money. */
const moneyLimits: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  'the workspace': ({ admin, tenant }) => asked(admin, 'PUT', `/admin/workspaces/${tenant.workspaceId}`, { usage_limits: [usage_limits] }),
  'a key': ({ admin, tenant: { workspaceId: workspace_id } }) =>
    asked(admin, 'POST', '/api-keys/workspace/service', { name: 'Limited', workspace_id, scopes: ['logs.list'], usage_limits }),
  'a provider': ({ admin, tenant }) => asked(admin, 'PUT', `/providers/account?workspace_id=${tenant.workspaceId}`, { usage_limits }),
  'a policy': ({ admin, tenant: { workspaceId: workspace_id } }) =>
    asked(admin, 'POST', '/policies/usage-limits', {
      workspace_id,
      conditions: [{ key: 'workspace_id', value: '*' }],
      group_by: [{ key: 'api_key' }],
      ...usage_limits,
    }),
  'the workspace, by tokens': ({ admin, tenant }) =>
    asked(admin, 'PUT', `/admin/workspaces/${tenant.workspaceId}`, { usage_limits: [{ type: 'tokens', credit_limit: 1000 }] }),
}

const free = { multiplier: { default: 0 } }
const noPrice = { type: 'static', pay_as_you_go: { request_token: { price: 0 }, response_token: { price: 0 } } }
const model = { slug: 'gpt-4o', enabled: true }
const region = { vertex_auth_type: 'basic', vertex_project_id: 'p', vertex_region: 'us-east1' }
const skips = { ...region, vertex_skip_ptu_cost_attribution: true }
const skipParam = 'configurations.vertex_skip_ptu_cost_attribution'
const account = { name: 'Another', key: 'sk', create_default_provider: false }

const priceAttempts: readonly Attempt[] = [
  ['PUT', '/integrations/account', { pricing_adjustments: free }, 'pricing_adjustments'],
  ['PUT', '/integrations/account/models', { models: [{ ...model, pricing_config: noPrice }] }, 'models[0].pricing_config'],
  ['PUT', '/integrations/account/models', { models: [{ ...model, base_model_slug: 'gpt-4o-mini' }] }, 'models[0].base_model_slug'],
  ['DELETE', '/integrations/account/models?slugs=priced', undefined, 'slugs'],
  ['POST', '/integrations', { ...account, ai_provider_id: 'openai', pricing_adjustments: free }, 'pricing_adjustments'],
  ['POST', '/integrations', { ...account, ai_provider_id: 'vertex-ai', configurations: skips }, skipParam],
  ['PUT', '/integrations/vertex', { configurations: { vertex_skip_ptu_cost_attribution: true } }, skipParam],
  ['POST', '/configs', { name: 'Mirror', config: { ...open, mirror: { target: open, billed: false } } }, 'config.mirror.billed'],
  ['POST', '/virtual-keys', { name: 'Virtual', provider: 'vertex-ai', key: 'sk', configurations: skips }, skipParam],
]

for (const [at, [name, limit]] of Object.entries(moneyLimits).entries())
  test(`prices are changed below a limit of ${name} as far as it does not count them`, async (t) => {
    const place = await placeOf(`prices-${at}`)
    const { admin, manager, tenant } = place
    await asked(admin, 'PUT', '/integrations/account/models', { models: [{ slug: 'priced', enabled: true, pricing_config: noPrice }] })
    const stored = { ...account, slug: 'vertex', ai_provider_id: 'vertex-ai', workspace_id: tenant.workspaceId }
    await asked(admin, 'POST', '/integrations', { ...stored, configurations: region })
    await limit(place)
    const expected = name.endsWith('by tokens') ? 200 : 403
    for (const [method, path, body, param] of priceAttempts) {
      const { status, body: said, text } = await manager.ask(method, path, body)
      t.is(status, expected, `${method} ${path} ${JSON.stringify(body)}: ${text}`)
      if (status === 403) t.like(said, { error: { code: 'AB03', param } })
    }
    const same = { models: [{ slug: 'priced', enabled: false, pricing_config: noPrice }] }
    if (expected === 403) await asked(manager, 'PUT', '/integrations/account/models', same)
    const named = await manager.ask('PUT', '/integrations/account', { name: 'Other', pricing_adjustments: expected === 200 ? free : null })
    t.is(named.status, 200, named.text)
  })

test('a limit in money binds a chat after a manager has tried other prices', async (t) => {
  const place = await placeOf('priced')
  await moneyLimits['the workspace']?.(place)
  const key = { name: 'Caller', workspace_id: place.tenant.workspaceId, scopes: ['completions.write'], defaults: { config_id: 'open' } }
  const secret = String((await asked(place.manager, 'POST', '/api-keys/workspace/service', key))['key'])
  t.is(await chat(secret), 412)
  for (const [method, path, body] of priceAttempts.slice(0, 3)) await place.manager.ask(method, path, body)
  t.is(await chat(secret), 412)
  await asked(place.admin, 'PUT', '/integrations/account', { pricing_adjustments: free })
  t.is(await chat(secret), 200)
})
