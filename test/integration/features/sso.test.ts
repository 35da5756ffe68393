import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { settleScimPlaces } from '../../../src/features/scim/settle.jobs.ts'
import { errorOf } from '../../support/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson, type RawAnswer } from '../../support/http.ts'
import { startCertified, type CertifiedProvider } from '../../support/oidc/certified.ts'
import { openBrowser, publicUrl, type SsoBrowser } from '../../support/oidc/browser.ts'
import { patchOf, scimClient } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
/** The origin of another process on the same database. */
let beside: string
let provider: CertifiedProvider
/** The organisation of the settings, and another one. */
let first: Tenant
let second: Tenant

const redirect_uris = [`${publicUrl}/auth/oidc/callback`, `${publicUrl}/auth/oidc/second/callback`]
const clientKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
const ownKey = { ...clientKey(), kid: 'client-1', alg: 'ES256', use: 'sig' }
const { d: _private, ...publicKey } = ownKey
const secret = 'a-client-secret-that-nobody-may-see'
const path = '/admin/organisation/sso'

const clients = [
  { client_id: 'basic', client_secret: secret, redirect_uris },
  { client_id: 'post', client_secret: secret, redirect_uris, token_endpoint_auth_method: 'client_secret_post' },
  {
    client_id: 'keyed',
    redirect_uris,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks: { keys: [publicKey] },
  },
  { client_id: 'public', redirect_uris, token_endpoint_auth_method: 'none' },
]

test.before(async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  provider = await startCertified(clients, { keys: [{ ...rsa, kid: 'sig-1', use: 'sig', alg: 'RS256' }] })
  control = await startControl(
    {},
    {
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENTID: 'basic',
      OIDC_CLIENT_SECRET: secret,
      OIDC_DOMAINS: 'First.example,shared.example',
      OIDC_GROUP_CLAIM: 'groups',
      ORGANISATION_DOMAINS: 'second=second.example,second=shared.example',
    },
  )
  beside = await control.openBeside()
  const oldest = await control.sql.query<{ id: string }>('SELECT id FROM organisations ORDER BY created_at LIMIT 1')
  const organisationId = oldest.rows[0]?.id ?? ''
  second = await control.createTenant('second')
  const allowed = { settings: { session_settings: { allow_passwords_beside_provider: true } } }
  await control.call(second.adminKey, 'PUT', '/admin/organisation', allowed)
  const adminKey = await control.createKey(
    { ...second, organisationId },
    { scopes: ['organisation_settings.read', 'organisation_settings.update'] },
  )
  first = { ...second, organisationId, adminKey }
})
test.after.always(async () => {
  await control?.close()
  provider?.close()
})

const slugOf = async ({ organisationId }: Pick<Tenant, 'organisationId'>): Promise<string> => {
  const { rows } = await control.sql.query<{ slug: string }>('SELECT slug FROM organisations WHERE id = $1', [organisationId])
  return rows[0]?.slug ?? ''
}

const loginPath = async (tenant: Tenant, query = ''): Promise<string> => `/auth/oidc/${await slugOf(tenant)}/login${query}`

const verified = (email: string, more: Readonly<Record<string, unknown>> = {}) => ({
  sub: `sub of ${email}`,
  claims: { email, email_verified: true, ...more },
})

async function comeIn(
  tenant: Tenant,
  person: CertifiedProvider['person'],
  query = '',
): Promise<{ answer: RawAnswer; browser: SsoBrowser }> {
  provider.person = person
  const browser = openBrowser(control.origin)
  return { answer: await browser.signIn(await loginPath(tenant, query)), browser }
}

async function me({ cookies }: SsoBrowser, origin = control.origin): Promise<RawAnswer> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return send(`${origin}/auth/me`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
}

const roleIn = async (userId: string, workspaceId: string): Promise<string | null> => {
  const query = 'SELECT role FROM workspace_members WHERE user_id = $1 AND workspace_id = $2'
  const { rows } = await control.sql.query<{ role: string }>(query, [userId, workspaceId])
  return rows[0]?.role ?? null
}

const settings = (more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'oidc',
  issuer: provider.issuer,
  client_id: 'basic',
  client_secret: secret,
  domains: ['second.example', 'shared.example', 'elsewhere.example'],
  ...more,
})

/** Returns a port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const put = (body: unknown, { adminKey }: Tenant = second) => control.call(adminKey, 'PUT', path, body)

function refused(t: ExecutionContext, answer: RawAnswer, code: string, message: RegExp): void {
  const error = errorOf(answer)
  t.is(error.code, code, answer.text)
  t.regex(error.message, message)
}

test.serial('a person of the organisation of the settings signs in, and goes on where they wanted to', async (t) => {
  const email = 'ada@first.example'
  const id = await control.createUser(first, { email, role: 'owner' })
  const { answer, browser } = await comeIn(first, verified('Ada@First.example'), '?return_to=/console/logs%3Fpage%3D2%23top')
  t.is(answer.status, 303, answer.text)
  t.is(answer.headers.location, '/console/logs?page=2#top')
  t.deepEqual([...browser.cookies.keys()].toSorted(), ['__Host-gatehouse', '__Host-gatehouse-device', '__Host-gatehouse-sign-in'])
  const cookie = answer.headers['set-cookie']?.find((text) => text.startsWith('__Host-gatehouse='))
  t.regex(cookie ?? '', /; HttpOnly; SameSite=Strict; Secure$/)
  const told = await me(browser)
  t.is(told.status, 200, told.text)
  t.true(told.text.includes(id))
  const { rows } = await control.sql.query<{ method: string; issuer: string; subject: string }>(
    'SELECT method, issuer, subject FROM sessions WHERE user_id = $1',
    [id],
  )
  t.deepEqual(rows, [{ method: 'oidc', issuer: provider.issuer, subject: 'sub of Ada@First.example' }])
  const audit = await control.sql.query<{ actor_id: string; user_id: string; action: string; resource_type: string }>(
    'SELECT actor_id, user_id, action, resource_type FROM audit_logs WHERE organisation_id = $1 ORDER BY seq DESC LIMIT 1',
    [first.organisationId],
  )
  t.deepEqual(audit.rows, [{ actor_id: id, user_id: id, action: 'sign-in', resource_type: 'session' }])
})

test.serial('from then on the subject finds the person, whatever their address is', async (t) => {
  const { answer, browser } = await comeIn(first, { sub: 'sub of Ada@First.example', claims: { email: 'other@elsewhere.example' } })
  t.is(answer.status, 303, answer.text)
  t.is(answer.headers.location, '/console')
  t.true((await me(browser)).text.includes('ada@first.example'))
})

test.serial('an address finds nobody unless the issuer has verified it and the organisation owns its domain', async (t) => {
  await control.createUser(first, { email: 'eve@first.example' })
  await control.createUser(first, { email: 'eve@elsewhere.example' })
  const people = [
    [{ sub: 'eve 1', claims: { email: 'eve@first.example' } }, /verified/],
    [{ sub: 'eve 2', claims: { email: 'eve@first.example', email_verified: false } }, /verified/],
    [{ sub: 'eve 3', claims: { email_verified: true } }, /verified/],
    [verified('eve@elsewhere.example'), /does not own/],
    [verified('eve@first.example.evil.example'), /does not own/],
    [verified('stranger@first.example'), /no account/],
    // The person has another identity there already.
    [{ ...verified('ada@first.example'), sub: 'eve 4' }, /another identity/],
  ] as const
  for (const [person, message] of people) {
    const { answer, browser } = await comeIn(first, person)
    t.is(answer.status, 403)
    refused(t, answer, 'AB03', message)
    t.false(browser.cookies.has('__Host-gatehouse'))
  }
  const { rows } = await control.sql.query("SELECT 1 FROM user_identities WHERE subject LIKE 'eve%' OR subject LIKE '%stranger%'")
  t.is(rows.length, 0)
})

test.serial('who is invited comes in as the invitation says; who was removed stays out until they are invited again', async (t) => {
  const email = 'ivy@second.example'
  t.is((await put(settings())).status, 200)
  const invite = () =>
    control.call(second.adminKey, 'POST', '/admin/users/invites', {
      email,
      role: 'member',
      workspaces: [{ id: second.sideId, role: 'manager' }],
    })
  refused(t, (await comeIn(second, verified(email))).answer, 'AB03', /no account/)
  const invited = await invite()
  t.is(invited.status, 200, invited.text)
  const { answer } = await comeIn(second, verified(email, { given_name: 'Ivy', family_name: 'Stone' }))
  t.is(answer.status, 303, answer.text)
  const { rows } = await control.sql.query<{ id: string; first_name: string }>('SELECT id, first_name FROM users WHERE email = $1', [email])
  t.is(rows[0]?.first_name, 'Ivy')
  const id = rows[0]?.id ?? ''
  t.is(await roleIn(id, second.sideId), 'manager')
  t.is((await control.call(second.adminKey, 'DELETE', `/admin/users/${id}`)).status, 200)
  t.is((await put(settings({ auto_provision: true }))).status, 200)
  refused(t, (await comeIn(second, verified(email))).answer, 'AB03', /no account/)
  t.is((await invite()).status, 200)
  const again = await comeIn(second, verified(email))
  t.is(again.answer.status, 303, again.answer.text)
  t.is((await me(again.browser)).status, 200)
  t.is(await roleIn(id, second.sideId), 'manager')
})

test.serial('who was removed and has another account by now signs in as that one, and the trail says so', async (t) => {
  t.is((await put(settings({ auto_provision: true }))).status, 200)
  const email = `${randomUUID()}@second.example`
  t.is((await comeIn(second, verified(email))).answer.status, 303)
  const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM users WHERE email = $1', [email])
  t.is((await control.call(second.adminKey, 'DELETE', `/admin/users/${rows[0]?.id}`)).status, 200)
  const id = await control.createUser(second, { email })
  const { answer, browser } = await comeIn(second, verified(email))
  t.is(answer.status, 303, answer.text)
  t.true((await me(browser)).text.includes(id))
  const trail = await control.sql.query(
    'SELECT actor_id, user_id, action FROM audit_logs WHERE organisation_id = $1 ORDER BY seq DESC LIMIT 1',
    [second.organisationId],
  )
  t.deepEqual(trail.rows, [{ actor_id: id, user_id: id, action: 'sign-in' }])
})

test.serial('who returns by an invitation has its role by hand, and that of their groups beside it', async (t) => {
  t.is((await put(settings())).status, 200)
  const scim = await scimClient(control, second)
  const { body: group } = await scim.send('POST', '/Groups', { body: { displayName: 'org-role-admin' } })
  const later = {
    admin: (id: string) =>
      scim.send('PATCH', `/Groups/${group.id}`, { body: patchOf({ op: 'remove', path: `members[value eq "${id}"]` }) }),
    member: () => settleScimPlaces.run(control.started.deps),
  }
  for (const role of ['admin', 'member'] as const) {
    const email = `${randomUUID()}@second.example`
    const { id } = (await scim.send('POST', '/Users', { body: { userName: email } })).body as { id: string }
    const roleNow = async () => (await control.sql.query('SELECT role FROM users WHERE id = $1 AND status = $2', [id, 'active'])).rows
    await scim.send('PATCH', `/Groups/${group.id}`, { body: patchOf({ op: 'add', path: 'members', value: [{ value: id }] }) })
    t.is((await comeIn(second, verified(email))).answer.status, 303)
    t.deepEqual(await roleNow(), [{ role: 'admin' }])
    await scim.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: false }) })
    const invited = await control.call(second.adminKey, 'POST', '/admin/users/invites', { email, role, workspaces: [] })
    t.is(invited.status, 200, invited.text)
    t.is((await comeIn(second, verified(email))).answer.status, 303)
    t.deepEqual(await roleNow(), [{ role }])
    await later[role](id)
    t.deepEqual(await roleNow(), [{ role: 'admin' }], role)
  }
})

const deactivations: Readonly<Record<string, readonly [method: string, body?: (userName: string) => object]>> = {
  'PATCH of active': ['PATCH', () => patchOf({ op: 'replace', path: 'active', value: false })],
  'PATCH as Entra sends it': ['PATCH', () => patchOf({ op: 'Replace', path: 'active', value: 'False' })],
  'PATCH as Okta sends it': ['PATCH', () => patchOf({ op: 'replace', value: { active: false } })],
  PUT: ['PUT', (userName) => ({ userName, active: false })],
  DELETE: ['DELETE'],
}

for (const [how, [method, body]] of Object.entries(deactivations))
  test.serial(
    `SCIM, ${how}: the sessions of the person end in every process within a second, and no sign-in brings them back`,
    async (t) => {
      t.is((await put(settings({ auto_provision: true }))).status, 200)
      const [scim, userName, password] = [await scimClient(control, second), `${randomUUID()}@second.example`, randomUUID()]
      const { body: made } = await scim.send('POST', '/Users', { body: { userName, active: true } })
      const user = { id: String(made.id), organisationId: second.organisationId, email: userName }
      const { deps } = control.started
      await inTenant(deps.orm, user.organisationId, (em) => setPassword(em, deps, { user, password, keeps: null }))
      const browsers = [(await comeIn(second, verified(userName))).browser, (await comeIn(second, verified(userName))).browser]
      const logIn = () => sendJson(`${beside}/auth/login`, {}, { email: userName, password })
      t.is((await logIn()).status, 200)
      const seen = async () =>
        (await Promise.all(browsers.flatMap((browser) => [me(browser), me(browser, beside)]))).map(({ status }) => status)
      t.deepEqual(await seen(), [200, 200, 200, 200])
      const ended = await scim.send(method, `/Users/${user.id}`, body && { body: body(userName) })
      t.is(ended.status, method === 'DELETE' ? 204 : 200, ended.text)
      await eventually(async () => (await seen()).every((status) => status === 401), 1000, 'the end of the sessions')
      const { answer, browser } = await comeIn(second, verified(userName))
      refused(t, answer, 'AB03', /no account/)
      t.false(browser.cookies.has('__Host-gatehouse'))
      t.is((await logIn()).status, 401)
      const { rows } = await control.sql.query('SELECT status FROM users WHERE email = $1', [userName])
      t.deepEqual(rows, [{ status: 'archived' }])
    },
  )

test.serial('somebody who is removed while they sign in has no session left when they return', async (t) => {
  const [scim, userName, password] = [await scimClient(control, second), `${randomUUID()}@second.example`, randomUUID()]
  const { body: made } = await scim.send('POST', '/Users', { body: { userName, active: true } })
  const user = { id: String(made.id), organisationId: second.organisationId, email: userName }
  const { deps } = control.started
  await inTenant(deps.orm, user.organisationId, (em) => setPassword(em, deps, { user, password, keeps: null }))
  const active = (value: boolean) => scim.send('PATCH', `/Users/${user.id}`, { body: patchOf({ op: 'replace', path: 'active', value }) })
  const waiting = async () =>
    (
      await control.sql.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'`,
      )
    ).rows.length
  const trail = await control.sql.connect()
  await trail.query('BEGIN')
  await trail.query('SELECT 1 FROM audit_heads WHERE organisation_id = $1 FOR UPDATE', [user.organisationId])
  const signing = sendJson(`${control.origin}/auth/login`, {}, { email: userName, password })
  await eventually(async () => (await waiting()) === 1, 10_000, 'the sign-in to wait for the trail')
  const removing = active(false)
  await eventually(async () => (await waiting()) === 2, 10_000, 'the removal to wait')
  await trail.query('ROLLBACK')
  trail.release()
  const signed = await signing
  t.is(signed.status, 200, signed.text)
  t.is((await removing).status, 200)
  t.is((await active(true)).status, 200)
  const [cookie = ''] = (signed.headers['set-cookie']?.[0] ?? '').split(';', 1)
  t.is((await send(`${control.origin}/auth/me`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status, 401)
})

test.serial('with auto_provision people of the domains become members; disable_auto_provision_user goes first', async (t) => {
  t.is((await put(settings({ auto_provision: true, disable_auto_provision_user: true }))).status, 200)
  refused(t, (await comeIn(second, verified('new@second.example'))).answer, 'AB03', /no account/)
  t.is((await put(settings({ auto_provision: true }))).status, 200)
  const { answer, browser } = await comeIn(second, verified('new@second.example'))
  t.is(answer.status, 303, answer.text)
  t.true((await me(browser)).text.includes('new@second.example'))
  const { rows } = await control.sql.query('SELECT organisation_id, role FROM users WHERE email = $1', ['new@second.example'])
  t.deepEqual(rows, [{ organisation_id: second.organisationId, role: 'member' }])
  // A domain that the organisation claims without owning it.
  refused(t, (await comeIn(second, verified('new@elsewhere.example'))).answer, 'AB03', /does not own/)
})

test.serial('two first sign-ins of one person at once make one person', async (t) => {
  t.is((await put(settings({ auto_provision: true }))).status, 200)
  provider.person = verified('twice@second.example')
  const path_ = await loginPath(second)
  const browsers = [openBrowser(control.origin), openBrowser(control.origin), openBrowser(control.origin)]
  const backs = await Promise.all(browsers.map((browser) => browser.leave(path_)))
  const answers = await Promise.all(browsers.map((browser, at) => browser.visit(backs[at] ?? '')))
  t.deepEqual(
    answers.map(({ status }) => status),
    [303, 303, 303],
    answers.map(({ text }) => text).join('\n'),
  )
  const { rows } = await control.sql.query('SELECT id FROM users WHERE email = $1', ['twice@second.example'])
  t.is(rows.length, 1)
})

const graceByMail = "SELECT id, role FROM users WHERE email = 'grace@second.example'"

test.serial('groups in claims give places by their names and by mappings, and take them away again', async (t) => {
  const mapped = {
    auto_provision: true,
    group_claim: 'groups',
    role_mappings: [{ group: 'Engineers', workspace_id: 'side', role: 'manager' }],
  }
  const saved = await put(settings(mapped))
  t.is(saved.status, 200, saved.text)
  t.like(saved.body, { role_mappings: [{ group: 'Engineers', workspace_id: second.sideId, role: 'manager' }] })
  const arrive = async (claims: Readonly<Record<string, unknown>>) => {
    const { answer } = await comeIn(second, verified('grace@second.example', claims))
    t.is(answer.status, 303, answer.text)
    const { rows } = await control.sql.query<{ id: string; role: string }>(graceByMail)
    const { id = '', role = '' } = rows[0] ?? {}
    return [role, await roleIn(id, second.workspaceId), await roleIn(id, second.sideId)]
  }
  const signIn = (groups: unknown) => arrive({ groups })
  t.deepEqual(await signIn(['ws-Main-role-admin', 'engineers', 'org-role-admin', 'others', 7, null, '']), ['admin', 'admin', 'manager'])
  t.deepEqual(await signIn(['ws-Main-role-member', 'ws-Side-role-member', 'Engineers']), ['member', 'member', 'manager'])
  t.deepEqual(await signIn('engineers'), ['member', null, 'manager'])
  // Too many groups for a token: the issuer states it, and the known groups stay.
  const sources = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } }
  for (const claims of [sources, { hasgroups: true }, { hasgroups: 'true' }])
    t.deepEqual(await arrive(claims), ['member', null, 'manager'], JSON.stringify(claims))
  t.deepEqual(await signIn([]), ['member', null, null])
  t.deepEqual(await signIn(['org-role-owner']), ['member', null, null])
  t.deepEqual(await signIn(['engineers']), ['member', null, 'manager'])
  // Without a mapping the place goes, before any sign-in.
  t.is((await put(settings({ auto_provision: true, group_claim: 'groups' }))).status, 200)
  const { rows } = await control.sql.query<{ id: string }>(graceByMail)
  t.is(await roleIn(rows[0]?.id ?? '', second.sideId), null)
})

test.serial('roles come from a claim in an object too', async (t) => {
  t.is((await put(settings({ auto_provision: true, group_claim: 'realm_access.roles' }))).status, 200)
  const { answer } = await comeIn(second, verified('kay@second.example', { realm_access: { roles: ['ws-main-role-manager'] } }))
  t.is(answer.status, 303, answer.text)
  const { rows } = await control.sql.query<{ id: string }>("SELECT id FROM users WHERE email = 'kay@second.example'")
  t.is(await roleIn(rows[0]?.id ?? '', second.workspaceId), 'manager')
})

test.serial('a person of one organisation does not reach another, also with the same address', async (t) => {
  t.is((await put(settings({ auto_provision: true }))).status, 200)
  const email = 'sam@shared.example'
  const [there, here] = [await control.createUser(first, { email, role: 'owner' }), await control.createUser(second, { email })]
  const { browser } = await comeIn(second, verified(email))
  const told = await me(browser)
  t.true(told.text.includes(here))
  t.false(told.text.includes(there))
  t.false(told.text.includes(first.organisationId))
  const { rows } = await control.sql.query('SELECT organisation_id FROM user_identities WHERE subject = $1', [`sub of ${email}`])
  t.deepEqual(rows, [{ organisation_id: second.organisationId }])
})

const askLogin = async (query: string) => JSON.parse((await send(`${control.origin}/auth/login${query}`)).text) as { provider: unknown }

test.serial('GET /auth/login names the provider by slug or by a domain that the organisation owns', async (t) => {
  t.is((await put(settings({ name: 'Okta' }))).status, 200)
  const [ofFirst, ofSecond] = [
    { type: 'oidc', name: new URL(provider.issuer).host, login_path: await loginPath(first) },
    { type: 'oidc', name: 'Okta', login_path: '/auth/oidc/second/login' },
  ]
  const cases = [
    ['?organisation=second', ofSecond],
    [`?organisation=${await slugOf(first)}`, ofFirst],
    ['?email=anybody@SECOND.example', ofSecond],
    ['?email=anybody@first.example', ofFirst],
    // Claimed by the second organisation, which does not own it.
    ['?email=anybody@elsewhere.example', null],
    ['?email=anybody@unknown.example', null],
    ['?organisation=unknown', null],
    ['', null],
  ] as const
  for (const [query, expected] of cases) t.deepEqual((await askLogin(query)).provider, expected, query)
})

test.serial('a provider that is turned off signs nobody in, and no other organisation has it', async (t) => {
  t.is((await put(settings({ enabled: false }))).status, 200)
  const there = await send(`${control.origin}/auth/oidc/second/login`)
  t.is(there.status, 404, there.text)
  t.is((await send(`${control.origin}/auth/oidc/unknown/login`)).status, 404)
  const third = await control.createTenant(`third-${randomUUID()}`)
  t.like((await control.call(third.adminKey, 'GET', path)).body, { type: null, source: null, enabled: false, issuer: null })
  t.like((await control.call(first.adminKey, 'GET', path)).body, {
    type: 'oidc',
    source: 'settings',
    owned_domains: ['first.example', 'shared.example'],
  })
})

test.serial('return_to leads to this origin alone', async (t) => {
  t.is((await put(settings())).status, 200)
  const evil = [
    'https://evil.example',
    '//evil.example',
    String.raw`/\evil.example`,
    String.raw`\\evil.example`,
    '/.//evil.example',
    '/x/..//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'javascript:alert(1)',
    'evil.example',
    '',
    `/${'a'.repeat(600)}`,
  ]
  for (const return_to of evil) {
    const answer = await send(`${control.origin}/auth/oidc/second/login?return_to=${encodeURIComponent(return_to)}`)
    t.is(answer.status, 400, JSON.stringify(return_to))
    t.is(errorOf(answer).param, 'return_to')
  }
})

const methods: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['client_secret_post', { client_id: 'post' }],
  ['private_key_jwt', { client_id: 'keyed', client_secret: undefined, client_jwks: ownKey }],
  ['none', { client_id: 'public', client_secret: undefined }],
]
for (const [token_endpoint_auth_method, more] of methods)
  test.serial(`the client shows who it is by ${token_endpoint_auth_method}`, async (t) => {
    const saved = await put(settings({ auto_provision: true, token_endpoint_auth_method, ...more }))
    t.is(saved.status, 200, saved.text)
    const { answer } = await comeIn(second, verified('client@second.example'))
    t.is(answer.status, 303, answer.text)
  })

test.serial('endpoints given by hand take the place of discovery', async (t) => {
  const { issuer } = provider
  const byHand = {
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/me`,
  }
  t.is((await put(settings({ auto_provision: true, ...byHand }))).status, 200)
  const { answer } = await comeIn(second, verified('hand@second.example'))
  t.is(answer.status, 303, answer.text)
  const lacking = await put(settings({ token_endpoint: byHand.token_endpoint }))
  t.is(lacking.status, 400)
  t.regex(lacking.text, /authorization_endpoint and jwks_uri is missing/)
})

test.serial('the secret is sealed, never told, and goes only where it was set for', async (t) => {
  t.is((await put(settings())).status, 200)
  const read = await control.call(second.adminKey, 'GET', path)
  t.false(read.text.includes(secret))
  t.false((await control.dump()).includes(secret))
  const kept = settings({ client_secret: undefined, name: 'Renamed' })
  const saved = await put(kept)
  t.is(saved.status, 200, saved.text)
  await control.createUser(second, { email: 'kept@second.example' })
  t.is((await comeIn(second, verified('kept@second.example'))).answer.status, 303)
  for (const moved of [{ issuer: 'http://127.0.0.1:9999' }, { client_id: 'another' }]) {
    const answer = await put({ ...kept, ...moved })
    t.is(answer.status, 400, answer.text)
    t.regex(answer.text, /"param":"client_secret"/)
  }
})

test.serial('a setting that could not work is refused with its field', async (t) => {
  const wrong = [
    [{ issuer: 'http://169.254.169.254/latest' }, 'issuer', 'blocked_host'],
    [{ issuer: 'ftp://example.com' }, 'issuer', 'AB01'],
    [{ issuer: `${provider.issuer}?a=b` }, 'issuer', 'AB01'],
    [{ domains: ['not a domain'] }, 'domains[0]', 'AB01'],
    [{ type: 'ldap' }, 'type', 'AB01'],
    [{ type: 'saml' }, 'metadata_xml', 'AB01'],
    [{ role_mappings: [{ group: 'x', workspace_id: 'unknown', role: 'admin' }] }, 'role_mappings[0].workspace_id', 'AB08'],
    [{ unknown: true }, 'unknown', 'AB01'],
    [{ token_endpoint_auth_method: 'private_key_jwt', client_jwks: { kty: 'EC' } }, 'client_jwks', 'AB01'],
  ] as const
  for (const [more, param, code] of wrong) {
    const { status, text } = await put(settings(more))
    t.true(status === 400 || status === 404, text)
    t.true(text.includes(`"param":"${param}`), text)
    t.true(text.includes(`"code":"${code}"`), text)
  }
})

test.serial('the test of a provider says what is wrong', async (t) => {
  const ask = async () => (await control.call(second.adminKey, 'POST', `${path}/test`)).body
  t.is((await put(settings())).status, 200)
  t.like(await ask(), { ok: true })
  t.is((await put(settings({ issuer: `${provider.issuer}/elsewhere` }))).status, 200)
  t.like(await ask(), { ok: false })
  t.is((await put(settings({ issuer: `http://127.0.0.1:${await closedPort()}` }))).status, 200)
  t.like(await ask(), { ok: false })
  const lost = await send(`${control.origin}/auth/oidc/second/login`)
  t.is(lost.status, 502, lost.text)
})
