import test from 'ava'
import { roles } from '../../../src/lib/access/permission-matrix.ts'
import { organisationScopes, userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import type { RawAnswer } from '../../support/http.ts'
import { addPerson, browse, signIn, type Browser, type TestPerson } from '../../support/people.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

interface Decision {
  readonly scope: string
  readonly allowed: boolean
  readonly decided_by: string
  readonly settings: readonly { readonly name: string; readonly value: boolean; readonly source: string }[]
  readonly reason: string
}

let control: Control
let acme: Tenant
let rival: Tenant
const people = new Map<string, { readonly person: TestPerson; readonly browser: Browser }>()

test.before(async () => {
  control = await startControl({}, { SESSION_LIFETIME: '7h' })
  ;[acme, rival] = [await control.createTenant('acme'), await control.createTenant('rival')]
  const { organisationId } = acme
  for (const [name, options] of Object.entries({
    owner: { role: 'owner' },
    'organisation-admin': { role: 'admin' },
    admin: { places: { main: 'admin' } },
    manager: { places: { main: 'manager' } },
    member: { places: { main: 'member' } },
    stranger: {},
    both: { places: { main: 'member', side: 'manager' } },
  } as const)) {
    const person = await addPerson(control.started, { organisationId, email: `${name}@acme.example`, ...options })
    people.set(name, { person, browser: await signIn(control.started, person) })
  }
})
test.after.always(() => control?.close())

const personOf = (name: string): TestPerson => people.get(name)?.person ?? { id: '', organisationId: '', email: '', role: 'member' }

function by(
  name: string,
  path: string,
  more: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const found = people.get(name)
  if (found === undefined) throw new Error(`nobody is called ${name}`)
  return browse({ baseUrl: control.origin }, found.browser, { path, ...more })
}

const json = (answer: { readonly text: string }) => JSON.parse(answer.text) as Record<string, unknown>
const decisionsIn = (answer: { readonly text: string }) => json(answer)['data'] as readonly Decision[]
const allowedIn = (answer: { readonly text: string }) =>
  decisionsIn(answer)
    .filter(({ allowed }) => allowed)
    .map(({ scope }) => scope)
    .toSorted()

/** Sets the settings of an organisation and its main workspace. */
async function set(settings: Record<string, unknown>, overrides: Record<string, unknown>): Promise<void> {
  for (const [path, body] of [
    ['/admin/organisation', { settings }],
    ['/admin/workspaces/main', { access_overrides: overrides }],
  ] as const) {
    const answer = await control.call(acme.adminKey, 'PUT', path, body)
    if (answer.status !== 200) throw new Error(answer.text)
  }
  await control.refresh()
}

const states: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ['nothing set', {}, {}],
  ['settings of the organisation', { membersWriteConfigs: true, managersViewLogs: false, organisationAdminsViewLogs: false }, {}],
  [
    'overrides of the workspace',
    { membersWriteConfigs: true, managersViewLogs: false, organisationAdminsViewLogs: null },
    { config_access: { membersWriteConfigs: false }, log_access: { managersViewLogs: true } },
  ],
]

for (const [what, settings, overrides] of states)
  test.serial(`with ${what}, rights are what a session of the person has`, async (t) => {
    await set(settings, overrides)
    for (const role of roles) {
      const me = json(await by(role, '/auth/me'))
      const place = (me['workspaces'] as readonly { slug: string; scopes: string[] }[]).find(({ slug }) => slug === 'main')
      const there = await control.call(acme.adminKey, 'GET', `/admin/users/${personOf(role).id}/rights?workspace=main`)
      t.is(there.status, 200, there.text)
      t.deepEqual(allowedIn(there), place?.scopes.toSorted() ?? [], role)
      t.is(there.body['role'], role)
      if (['owner', 'organisation-admin'].includes(role)) {
        const whole = await control.call(acme.adminKey, 'GET', `/admin/users/${personOf(role).id}/rights`)
        t.deepEqual([whole.body['workspace'], allowedIn(whole)], [null, (me['scopes'] as string[]).toSorted()])
      }
    }
    await set(
      { membersWriteConfigs: null, managersViewLogs: null, organisationAdminsViewLogs: null },
      { config_access: null, log_access: null },
    )
  })

const told: readonly (readonly [who: string, scope: string, decision: Partial<Decision>])[] = [
  ['owner', 'audit_logs.list', { allowed: true, decided_by: 'role', reason: 'The role owner gives it.' }],
  [
    'member',
    'audit_logs.list',
    { allowed: false, decided_by: 'role', reason: 'Only owners and admins of the organisation have scopes on it.' },
  ],
  ['admin', 'workspaces.delete', { allowed: false, decided_by: 'role', reason: 'The role admin does not give it.' }],
  [
    'stranger',
    'configs.read',
    { allowed: false, decided_by: 'role', reason: 'Without a role in the workspace there are no rights in it.' },
  ],
  ['member', 'configs.update', { allowed: false, decided_by: 'setting', reason: 'membersWriteConfigs is off by default.' }],
  [
    'manager',
    'guardrails.update',
    { allowed: false, decided_by: 'setting', reason: 'managersWriteGuardrails is off in the organisation.' },
  ],
  ['manager', 'prompts.update', { allowed: false, decided_by: 'override', reason: 'managersWritePrompts is off in this workspace.' }],
  [
    'organisation-admin',
    'logs.list',
    { allowed: true, decided_by: 'setting', reason: 'organisationAdminsViewLogMetadata is on by default.' },
  ],
]

test.serial('what decides is told for each scope', async (t) => {
  await set({ managersWriteGuardrails: false, organisationAdminsViewLogs: false }, { prompt_access: { managersWritePrompts: false } })
  for (const [who, scope, expected] of told) {
    const answer = await control.call(acme.adminKey, 'GET', `/admin/users/${personOf(who).id}/rights?workspace=main&scope=${scope}`)
    const [decision, ...more] = decisionsIn(answer)
    t.like(decision, expected, `${who} ${scope}`)
    t.deepEqual(more, [])
  }
  const { body } = await control.call(acme.adminKey, 'GET', `/admin/users/${personOf('both').id}/rights`)
  t.is((body['workspace'] as { slug: string }).slug, 'main', 'the default workspace, as in a session')
  await set({ managersWriteGuardrails: null, organisationAdminsViewLogs: null }, { prompt_access: null })
})

test.serial('who sees only their own data is told', async (t) => {
  await set({ membersViewAllData: false }, {})
  for (const [who, only] of [
    ['member', true],
    ['manager', false],
  ] as const) {
    const { body } = await control.call(acme.adminKey, 'GET', `/admin/users/${personOf(who).id}/rights?workspace=main`)
    t.is(body['sees_own_data_only'], only, who)
  }
  await set({ membersViewAllData: null }, {})
})

const rightsOf = (id: string, more = '') => `/v1/admin/users/${id}/rights${more}`

test.serial('rights are told to those who may know the person, and to nobody else', async (t) => {
  const { id } = personOf('member')
  t.is((await by('owner', rightsOf(id))).status, 200)
  t.is((await by('manager', rightsOf(id, '?workspace=main'))).status, 200)
  t.is((await by('member', rightsOf(personOf('manager').id, '?workspace=main'))).status, 200)
  t.is((await by('manager', rightsOf(id))).status, 404, 'in the organisation')
  t.is((await by('manager', rightsOf(personOf('stranger').id, '?workspace=main'))).status, 404, 'somebody who is not in the workspace')
  t.is((await by('manager', rightsOf(id, '?workspace=side'))).status, 404, 'another workspace')
  t.is((await by('stranger', rightsOf(id))).status, 403, 'somebody without a role')
  for (const key of [rival.adminKey, rival.workspaceKey])
    t.is((await control.call(key, 'GET', `/admin/users/${id}/rights?workspace=main`)).status, 404)
  t.is((await control.call(acme.adminKey, 'GET', `/admin/users/${id}/rights?workspace=nowhere`)).status, 404)
})

/** Makes a key, and returns its id with the scopes that both planes report. */
async function makeKey(type: string, body: Record<string, unknown>): Promise<{ id: string; key: string }> {
  const {
    status,
    text,
    body: made,
  } = await control.call(acme.adminKey, 'POST', `/api-keys/${type}`, { name: 'k', workspace_id: 'main', ...body })
  if (status !== 200) throw new Error(text)
  return { id: String(made['id']), key: String(made['key']) }
}

const scopesHeld = async (token: string): Promise<string[]> => {
  const { body } = await control.call(acme.adminKey, 'POST', '/oauth/introspect', { token })
  return body['active'] === true ? String(body['scope']).split(' ').toSorted() : []
}

test.serial('rights of a key are what the key holds, with what takes the others away', async (t) => {
  const scopes = ['configs.read', 'configs.update', 'completions.write', 'workspaces.create']
  const service = await makeKey('workspace/service', { scopes })
  const user = await makeKey('workspace/user', { scopes, user_id: personOf('member').id })
  for (const { id, key } of [service, user]) {
    const rights = await control.call(acme.adminKey, 'GET', `/api-keys/${id}/rights`)
    t.is(rights.status, 200, rights.text)
    t.deepEqual(allowedIn(rights), await scopesHeld(key))
  }
  const of = async (id: string, scope: string) =>
    decisionsIn(await control.call(acme.adminKey, 'GET', `/api-keys/${id}/rights?scope=${scope}`))[0]
  t.like(await of(service.id, 'configs.update'), { allowed: true, decided_by: 'key', reason: 'The key has it.' })
  t.is(await of(service.id, 'labels.read'), undefined, 'there is no such scope')
  t.like(await of(service.id, 'prompts.read'), { allowed: false, decided_by: 'key', reason: 'The key does not have it.' })
  t.like(await of(user.id, 'configs.update'), { allowed: false, decided_by: 'setting', reason: 'membersWriteConfigs is off by default.' })
  t.like(await of(user.id, 'workspaces.create'), { allowed: false, decided_by: 'role' })
  t.like(await of(user.id, 'prompts.read'), { allowed: false, decided_by: 'key' })
  await control.sql.query("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [user.id])
  t.like(await of(user.id, 'configs.read'), { allowed: false, decided_by: 'key', reason: 'The key has expired.' })
  t.is((await control.call(rival.adminKey, 'GET', `/api-keys/${service.id}/rights`)).status, 404)
})

test.serial('a user key that had to be rotated, and one whose holder has left, have no rights', async (t) => {
  const stale = await makeKey('workspace/user', { scopes: ['configs.read'], user_id: personOf('manager').id })
  const of = async (id: string) => decisionsIn(await control.call(acme.adminKey, 'GET', `/api-keys/${id}/rights?scope=configs.read`))[0]
  await set({ user_api_key_rotation_period: 1 }, {})
  t.like(await of(stale.id), { allowed: true, decided_by: 'setting' })
  await control.sql.query("UPDATE api_keys SET created_at = now() - interval '2 days', last_updated_at = now() WHERE id = $1", [stale.id])
  t.like(await of(stale.id), { allowed: false, decided_by: 'key', reason: 'The key had to be rotated before now.' })
  await set({ user_api_key_rotation_period: null }, {})
  await control.sql.query('DELETE FROM workspace_members WHERE user_id = $1', [personOf('manager').id])
  t.like(await of(stale.id), { allowed: false, decided_by: 'role' })
  await control.sql.query(
    "INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'manager')",
    [acme.organisationId, acme.workspaceId, personOf('manager').id],
  )
})

interface Preset {
  readonly id: string
  readonly scopes: readonly { readonly key_type: string; readonly scopes: readonly string[] }[]
}

test.serial('the catalogue has every scope once, and presets that keys can have', async (t) => {
  const { status, text, body } = await control.call(acme.workspaceKey, 'GET', '/catalogue/scopes')
  t.is(status, 200, text)
  const groups = body['groups'] as readonly { id: string; title: string; scopes: readonly { scope: string; key_types: string[] }[] }[]
  const all = groups.flatMap(({ scopes }) => scopes)
  t.deepEqual(all.map(({ scope }) => scope).toSorted(), [...new Set([...organisationScopes, ...workspaceScopes])].toSorted())
  for (const [type, expected] of [
    ['organisation-service', organisationScopes],
    ['workspace-service', workspaceScopes],
    ['workspace-user', userScopes],
  ] as const)
    t.deepEqual(
      all
        .filter(({ key_types: types }) => types.includes(type))
        .map(({ scope }) => scope)
        .toSorted(),
      [...expected].toSorted(),
      type,
    )
  t.true(groups.every(({ id, title }) => title !== id && title !== ''))
  const presets = body['presets'] as readonly Preset[]
  t.true(presets.length >= 5)
  for (const { id, scopes } of presets)
    for (const { key_type: type, scopes: given } of scopes) {
      const place =
        type === 'organisation-service' ? { workspace_id: undefined } : type === 'workspace-user' ? { user_id: personOf('admin').id } : {}
      await t.notThrowsAsync(() => makeKey(type.replace('-', '/'), { ...place, scopes: given }), `${id} ${type}`)
    }
  const one = await by('member', '/v1/catalogue/scopes?group=configs')
  t.deepEqual(
    (json(one)['groups'] as readonly { id: string }[]).map(({ id }) => id),
    ['configs'],
  )
})

interface Setting {
  readonly name: string
  readonly [field: string]: unknown
}

test.serial('settings are told with their values, where these come from, and whom they bind', async (t) => {
  await set(
    { membersWriteConfigs: true, user_api_key_ttl: 30, session_settings: { max_session_ttl: 3600 } },
    { config_access: { membersWriteConfigs: false }, user_api_keys: { user_api_key_ttl: 7 } },
  )
  const read = async (who: string, query = '') => {
    const answer = await by(who, `/v1/catalogue/settings${query}`)
    t.is(answer.status, 200, answer.text)
    return new Map((json(answer)['data'] as readonly Setting[]).map((setting) => [setting.name, setting]))
  }
  const main = { workspace_id: acme.workspaceId, slug: 'main', name: 'Main' }
  const whole = await read('owner')
  t.like(whole.get('membersWriteConfigs'), {
    category: 'config_access',
    default: false,
    value: true,
    source: 'organisation',
    overrides: [{ ...main, value: false }],
    binds: 'members',
    people_bound: 2,
  })
  t.like(whole.get('membersViewLogs'), { value: true, source: 'default', overrides: [], since: null })
  t.like(whole.get('managersViewAllData'), { since: '1.11.0', binds: 'managers', people_bound: 2 })
  t.like(whole.get('organisationAdminsViewLogs'), { binds: 'organisation-admins', people_bound: 1 })
  t.like(whole.get('user_api_key_ttl'), { default: null, value: 30, source: 'organisation', overrides: [{ ...main, value: 7 }] })
  t.like(whole.get('session_settings.max_session_ttl'), { value: 3600, category: null, binds: 'everybody', people_bound: 7 })
  t.like(whole.get('api_key_metadata_keys'), { value: null, source: 'default' })
  t.true([...whole.values()].every(({ effect }) => typeof effect === 'string' && effect.length > 10))
  const there = await read('owner', '?workspace=main&name=membersWriteConfigs')
  t.like(there.get('membersWriteConfigs'), { value: false, source: 'workspace', people_bound: 2 })
  t.is(there.size, 1)
  const side = await read('both', '?workspace=main')
  t.deepEqual(side.get('user_api_key_ttl')?.['value'], 7)
  t.is((await by('manager', '/v1/catalogue/settings?workspace=side')).status, 404)
  const [own] = [await read('manager')]
  t.is(own.get('membersWriteConfigs')?.['source'], 'workspace', 'a manager sees them as they are in the workspace')
  await set({ membersWriteConfigs: null, user_api_key_ttl: null, session_settings: null }, { config_access: null, user_api_keys: null })
})

test.serial(
  'the settings of the environment that bind everybody are told, with where their value is from; no host, path or credential is',
  async (t) => {
    const { environment } = json(await by('member', '/v1/catalogue/settings?workspace=main')) as {
      readonly environment: readonly {
        readonly name: string
        readonly effect: string
        readonly value: string | null
        readonly source: string
      }[]
    }
    const named = new Map(environment.map((setting) => [setting.name, setting]))
    t.like(named.get('SESSION_LIFETIME'), { default: '12h', value: '7h', source: 'environment' })
    t.like(named.get('SESSION_IDLE_TIMEOUT'), { value: '2h', source: 'default' })
    t.like(named.get('POLICY_ENABLED'), { value: 'ON', source: 'default', since: '1.9.0' })
    t.true(environment.every(({ effect }) => effect.length > 5))
    t.deepEqual(
      environment.filter(({ name }) => /KEY|SECRET|TOKEN|PASS|HOST|PATH|URL|DB_/.test(name)),
      [],
    )
    const one = json(await by('owner', '/v1/catalogue/settings?name=AUTH_MODE'))
    t.deepEqual([one['data'], (one['environment'] as readonly object[]).length], [[], 1])
  },
)

const preferences = '/auth/me/preferences'
const put = (who: string, value: unknown, headers: Record<string, string> = {}) =>
  by(who, preferences, { method: 'PUT', body: { preferences: value }, headers })

test.serial('preferences are of the person, whatever the browser', async (t) => {
  t.deepEqual(json(await by('member', preferences)), { preferences: {}, last_updated_at: null })
  const kept = { theme: 'dark', columns: { logs: ['cost'] } }
  t.is((await put('member', kept)).status, 200)
  people.set('again', { person: personOf('member'), browser: await signIn(control.started, personOf('member')) })
  const read = await by('again', preferences)
  t.deepEqual(json(read)['preferences'], kept)
  t.deepEqual(json(await by('manager', preferences))['preferences'], {})
  t.is((await put('member', { theme: 'light' }, { 'if-match': '"old"' })).status, 412)
  t.is((await put('again', {}, { 'if-match': String(read.headers.etag) })).status, 200)
  t.deepEqual(json(await by('member', preferences))['preferences'], {})
})

test.serial('preferences have a bound, and no key reaches them', async (t) => {
  const text = 'a'.repeat(16_384 - '{"a":""}'.length)
  t.is((await put('member', { a: text })).status, 200)
  const more = await put('member', { a: `${text}b` })
  t.is(more.status, 400, more.text)
  t.is((await put('member', { a: '\0' })).status, 400)
  t.is((await put('member', 'dark')).status, 400)
  const answer = await fetch(`${control.origin}${preferences}`, { headers: { 'x-service-api-key': acme.adminKey } })
  t.is(answer.status, 401)
})

test.serial('two browsers set the first preferences at once', async (t) => {
  const answers = await Promise.all([put('admin', { a: 1 }), put('admin', { a: 2 }), put('admin', { a: 3 })])
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
})
