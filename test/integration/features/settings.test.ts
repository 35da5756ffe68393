import test from 'ava'
import { userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type Issuer, startIssuer } from '../../support/issuer.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let issuer: Issuer
let acme: Tenant
let now = Date.now()

type Fields = Readonly<Record<string, unknown>>

test.before(async () => {
  ;[control, emulator, issuer] = await Promise.all([
    startControl({ clock: { now: () => now } }, { ROLES: 'gateway,control' }),
    startEmulator(),
    startIssuer(),
  ])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  ok(await admin('POST', '/integrations', { ...account, default_provider_slug: 'p' }))
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  issuer?.close()
})

function ok(answer: Answer): Fields {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

const admin = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)
const errorOf = ({ body }: Answer) => body['error'] as { code: string; message: string; param: string | null }
const chat = (key: string, where = control) =>
  fetch(`${where.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })

const dayMs = 24 * 60 * 60 * 1000

test.serial('who may not see the data of others sees the logs of their own credentials', async (t) => {
  const make = async (email: string) => {
    const userId = await control.createUser(acme, { email, workspaces: { [acme.sideId]: 'member' } })
    return { userId, key: await control.createKey(acme, { workspaceId: acme.sideId, userId, scopes: userScopes }) }
  }
  const [ada, bob] = [await make('ada@acme.example'), await make('bob@acme.example')]
  const jwt = { jwks: { keys: issuer.jwks.keys.filter(({ kid }) => kid === 'EdDSA') } }
  ok(await admin('PUT', '/admin/organisation', { settings: { jwt } }))
  const provider = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-side', configurations: { custom_host: emulator.url } }
  ok(await control.call(acme.sideKey, 'POST', '/integrations', { ...provider, slug: 'side-p', default_provider_slug: 'p' }))
  await control.refresh()
  const claims = {
    organisation_id: acme.organisationId,
    workspace_slug: 'side',
    exp: now / 1000 + 3600,
    scope: 'completions.write logs.list',
  }
  const robot = issuer.sign({ ...claims, sub: 'robot' }, { alg: 'EdDSA' })
  const adasToken = issuer.sign({ ...claims, sub: 'ada@acme.example' }, { alg: 'EdDSA' })
  for (const key of [ada.key, bob.key, robot, acme.sideKey]) t.is((await chat(key)).status, 200)
  const logs = async (key: string) => ok(await control.call(key, 'GET', '/logs'))['data'] as { id: string; user_id: string | null }[]
  await eventually(async () => (await logs(acme.sideKey)).length === 4, 10_000, 'the logs')
  t.is((await logs(ada.key)).length, 4)
  ok(await admin('PUT', '/admin/organisation', { settings: { membersViewAllData: false } }))
  await control.refresh()
  const own = await logs(ada.key)
  t.deepEqual(
    own.map(({ user_id }) => user_id),
    [ada.userId],
  )
  t.deepEqual(
    (await logs(adasToken)).map(({ id }) => id),
    own.map(({ id }) => id),
  )
  t.is((await logs(robot)).length, 1)
  t.is((await logs(acme.sideKey)).length, 4)
  const bobs = (await logs(acme.sideKey)).find(({ user_id }) => user_id === bob.userId)
  t.is((await control.call(ada.key, 'GET', `/logs/${String(bobs?.id)}`)).status, 404)
  t.is((await control.call(bob.key, 'GET', `/logs/${String(bobs?.id)}`)).status, 200)
  ok(await admin('PUT', '/admin/organisation', { settings: { membersViewAllData: null } }))
})

test.serial('defaults name what is there', async (t) => {
  const actions = { onFail: 'warn' }
  const checks = [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }]
  ok(await admin('POST', '/guardrails', { name: 'Ours', slug: 'g-ours', checks, actions }))
  ok(await control.call(acme.workspaceKey, 'POST', '/guardrails', { name: 'Main', slug: 'g-main', checks, actions }))
  ok(await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'C', slug: 'c-main', config: { provider: '@p' } }))
  const main = `/admin/workspaces/${acme.workspaceId}`
  const side = `/admin/workspaces/${acme.sideId}`
  const none = 'nothing-has-this-slug'
  const cases: readonly (readonly [method: string, path: string, body: Fields, param: string | null])[] = [
    ['PUT', main, { defaults: { input_guardrails: ['g-ours', 'g-main'], user_api_key_config: 'c-main' } }, null],
    ['PUT', side, { defaults: { input_guardrails: ['g-ours', 'g-main'] } }, 'defaults.input_guardrails[1]'],
    ['PUT', side, { defaults: { output_guardrails: [none] } }, 'defaults.output_guardrails[0]'],
    ['PUT', side, { defaults: { user_api_key_config: 'c-main' } }, 'defaults.user_api_key_config'],
    ['PUT', main, { defaults: { input_guardrails: null, user_api_key_config: null } }, null],
    ['POST', '/admin/workspaces', { name: 'n', defaults: { input_guardrails: ['g-main'] } }, 'defaults.input_guardrails[0]'],
    ['POST', '/admin/workspaces', { name: 'n', defaults: { input_guardrails: ['g-ours'] } }, null],
    ['POST', '/admin/workspaces', { name: 'n', defaults: { user_api_key_config: 'c-main' } }, 'defaults.user_api_key_config'],
    ['PUT', '/admin/organisation', { defaults: { input_guardrails: ['g-main'] } }, 'defaults.input_guardrails[0]'],
    ['PUT', '/admin/organisation/defaults', { output_guardrails: ['g-ours', none] }, 'output_guardrails[1]'],
    ['PUT', '/admin/organisation/defaults', { output_guardrails: ['g-ours'] }, null],
    ['PUT', '/admin/organisation/defaults', { output_guardrails: null }, null],
    ['POST', '/api-keys/workspace/service', { name: 'k', scopes: ['logs.list'], defaults: { config_id: none } }, 'defaults.config_id'],
    ['POST', '/api-keys/workspace/service', { name: 'k', scopes: ['logs.list'], defaults: { config_id: 'c-main' } }, null],
    [
      'POST',
      '/api-keys/organisation/service',
      { name: 'k', scopes: ['logs.list'], defaults: { config_id: 'c-main' } },
      'defaults.config_id',
    ],
  ]
  for (const [method, path, body, param] of cases) {
    const answer = await admin(method, path, body)
    t.is(answer.status, param === null ? 200 : 400, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`)
    if (param !== null) t.like(errorOf(answer), { code: 'AB01', param })
  }
})

test.serial('metadata that the organisation asks for is there, or the key and the workspace are refused', async (t) => {
  ok(await admin('PUT', '/admin/organisation', { settings: { api_key_metadata_keys: ['team'], workspace_metadata_keys: ['cost_centre'] } }))
  const key = { name: 'k', scopes: ['logs.list'] }
  t.like(errorOf(await admin('POST', '/api-keys/workspace/service', key)), { code: 'AB01', param: 'defaults.metadata.team' })
  const empty = await admin('POST', '/api-keys/workspace/service', { ...key, defaults: { metadata: { team: '' } } })
  t.is(errorOf(empty).param, 'defaults.metadata.team')
  const { id } = ok(await admin('POST', '/api-keys/workspace/service', { ...key, defaults: { metadata: { team: 'blue' } } }))
  t.is(errorOf(await admin('PUT', `/api-keys/${String(id)}`, { defaults: { metadata: {} } })).param, 'defaults.metadata.team')
  t.is(errorOf(await admin('PUT', `/api-keys/${String(id)}`, { defaults: null })).param, 'defaults.metadata.team')
  t.is((await admin('PUT', `/api-keys/${String(id)}`, { name: 'renamed' })).status, 200)
  t.is((await admin('POST', '/api-keys/organisation/service', key)).status, 200)
  t.is(errorOf(await admin('POST', '/admin/workspaces', { name: 'w' })).param, 'defaults.metadata.cost_centre')
  t.is((await admin('POST', '/admin/workspaces', { name: 'w', defaults: { metadata: { cost_centre: '7' } } })).status, 200)
  const side = `/admin/workspaces/${acme.sideId}`
  t.is(errorOf(await admin('PUT', side, { defaults: { metadata: { a: 'b' } } })).param, 'defaults.metadata.cost_centre')
  t.is((await admin('PUT', side, { name: 'Side' })).status, 200)
  ok(await admin('PUT', '/admin/organisation', { settings: { api_key_metadata_keys: null, workspace_metadata_keys: null } }))
})

test.serial('a user key that was not rotated in time is refused until it is', async (t) => {
  const userId = await control.createUser(acme, { email: 'old@acme.example', workspaces: { [acme.workspaceId]: 'member' } })
  const made = { name: 'k', scopes: ['completions.write'], user_id: userId }
  const { id, key } = ok(await admin('POST', '/api-keys/workspace/user', made))
  await control.sql.query('UPDATE api_keys SET created_at = $2 WHERE id = $1', [id, new Date(now - 40 * dayMs)])
  t.is((await chat(String(key))).status, 200)
  ok(await admin('PUT', '/admin/organisation', { settings: { user_api_key_rotation_period: 30 } }))
  await eventually(async () => (await chat(String(key))).status === 401, 1000, 'the setting')
  t.is((await chat(acme.workspaceKey)).status, 200, 'service keys are not asked')
  const rotated = ok(await admin('POST', `/api-keys/${String(id)}/rotate`))
  await control.refresh()
  t.is((await chat(String(rotated['key']))).status, 200)
  t.is((await chat(String(key))).status, 200, 'in its transition')
  const overrides = { user_api_keys: { user_api_key_rotation_period: 365 } }
  ok(await admin('PUT', `/admin/workspaces/${acme.workspaceId}`, { access_overrides: overrides }))
  await control.sql.query('UPDATE api_keys SET rotated_at = $2 WHERE id = $1', [id, new Date(now - 40 * dayMs)])
  await control.refresh()
  t.is((await chat(String(rotated['key']))).status, 200, 'the workspace asks less')
  const tooLong = await admin('PUT', '/admin/organisation', { settings: { user_api_key_rotation_period: 366 } })
  t.is(errorOf(tooLong).param, 'settings.user_api_key_rotation_period')
  ok(await admin('PUT', '/admin/organisation', { settings: { user_api_key_rotation_period: null } }))
  ok(await admin('PUT', `/admin/workspaces/${acme.workspaceId}`, { access_overrides: null }))
})

test.serial('a key that is told to be used up is active again when its usage is reset', async (t) => {
  const { id, key } = ok(await admin('POST', '/api-keys/workspace/service', { name: 'k', scopes: ['completions.write'] }))
  await control.sql.query(`UPDATE api_keys SET status = 'exhausted' WHERE id = $1`, [id])
  await control.refresh()
  t.is((await chat(String(key))).status, 200, 'what was counted decides, not what is told of it')
  ok(await admin('PUT', `/api-keys/${String(id)}`, { reset_usage: false }))
  t.is(ok(await admin('GET', `/api-keys/${String(id)}`))['status'], 'exhausted')
  ok(await admin('PUT', `/api-keys/${String(id)}`, { reset_usage: true }))
  await control.refresh()
  t.is((await chat(String(key))).status, 200)
})

test.serial('a change of the organisation beside another write of it waits, and both are done', async (t) => {
  const writer = await control.sql.connect()
  try {
    await writer.query('BEGIN')
    await writer.query('UPDATE audit_heads SET seq = seq WHERE organisation_id = $1', [acme.organisationId])
    const changed = admin('PUT', '/admin/organisation', { name: 'Acme' })
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await eventually(async () => (await control.sql.query(waits)).rows.length > 0, 5000, 'the change to wait for the end of the chain')
    await writer.query('SELECT 1 FROM organisations WHERE id = $1 FOR KEY SHARE', [acme.organisationId])
    await writer.query('COMMIT')
    t.is((await changed).status, 200)
  } finally {
    writer.release()
  }
})

test.serial('at an earlier level later settings are refused and not shown, and tokens behave as they did', async (t) => {
  const early = await startControl({}, { RELEASE_LEVEL: '1.3.0' })
  try {
    const old = await early.createTenant('old')
    const put = (settings: Fields) => early.call(old.adminKey, 'PUT', '/admin/organisation', { settings })
    for (const [name, release] of [
      ['membersViewAnalytics', '1.9.0'],
      ['managersWritePrompts', '1.10.0'],
      ['membersViewAllData', '1.11.0'],
    ] as const) {
      const refused = errorOf(await put({ [name]: false }))
      t.like(refused, { code: 'AB01', param: `settings.${name}` })
      t.regex(refused.message, new RegExp(`comes with release ${release}, which is above the level`))
      t.is((await put({ [name]: null })).status, 400)
    }
    const overrides = { access_overrides: { prompt_access: { membersWritePrompts: true } } }
    const workspace = await early.call(old.adminKey, 'PUT', `/admin/workspaces/${old.sideId}`, overrides)
    t.like(errorOf(workspace), { code: 'AB01', param: 'access_overrides.prompt_access' })
    t.is((await put({ membersViewConfigs: false })).status, 200)
    const shown = ok(await early.call(old.adminKey, 'GET', '/admin/organisation'))['settings'] as Fields
    t.is(shown['membersViewConfigs'], false)
    t.false(Object.keys(shown).some((name) => /Analytics|Prompts|AllData/.test(name)))

    const jwt = { jwks: { keys: issuer.jwks.keys.filter(({ kid }) => kid === 'EdDSA') } }
    t.is((await put({ jwt })).status, 200)
    await early.refresh()
    const claims = { organisation_id: old.organisationId, workspace_slug: 'main', sub: 'a@old.example', scopes: workspaceScopes }
    const good = issuer.sign({ ...claims, exp: Date.now() / 1000 + 600 }, { alg: 'EdDSA' })
    t.is((await early.call(good, 'GET', '/prompts')).status, 403, 'tokens read from release 1.7.3 on')
    t.is((await early.call(good, 'POST', '/feedback', { trace_id: 'x', value: 1 })).status, 200)
    const late = issuer.sign({ ...claims, exp: Date.now() / 1000 - 600 }, { alg: 'EdDSA' })
    t.is(errorOf(await early.call(late, 'GET', '/prompts')).message, 'The token is not accepted.')
    const told = ok(await early.call(old.adminKey, 'POST', '/oauth/introspect', { token: good }))
    t.like(told, { active: true, token_type: 'jwt' })
    t.false('email' in told || 'username' in told)
    const { rows } = await early.sql.query(`SELECT 1 FROM audit_logs WHERE resource_type = 'token'`)
    t.is(rows.length, 0)
  } finally {
    await early.close()
  }
})
