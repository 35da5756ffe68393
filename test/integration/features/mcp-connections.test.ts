// People sign in at MCP servers by their browser, and Gatehouse calls these as them: the whole way through HTTP, and each attack that it has to withstand.
import test from 'ava'
import { type GuardedServer, type ScriptedIssuer, startGuardedServer, startIssuer } from '../../support/mcp/guarded-server.ts'
import { ask, legacyInitialize } from '../../support/mcp/raw-client.ts'
import { issuer as ownName, openBrowser, type TestBrowser } from '../../support/mcp/sign-in-flow.ts'
import { addPerson, signIn, type TestPerson } from '../../support/people.ts'
import { must } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant
let issuer: ScriptedIssuer
let count = 0

test.before(async () => {
  issuer = await startIssuer()
  control = await startControl({}, { PUBLIC_URL: ownName })
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(async () => {
  await control?.close()
  await issuer?.stop()
})
test.beforeEach(() => {
  issuer.metadata = {}
  issuer.answers.clear()
  issuer.life = 3600
  issuer.hold = null
})

interface Connectable {
  readonly slug: string
  readonly id: string
  readonly server: GuardedServer
}

/** Stores a guarded server at which people sign in. */
async function store(t: Teardown, given: object | null = null, tenant = acme): Promise<Connectable> {
  const server = await startGuardedServer(issuer)
  t.teardown(() => server.stop())
  const slug = `connectable-${(count += 1)}`
  const owner = { control, tenant }
  await must(owner, 'POST', '/mcp-integrations', {
    name: slug,
    slug,
    url: server.url,
    auth_type: 'oauth_auto',
    transport: 'http',
    configurations: { oauth: given },
  })
  await must(owner, 'PUT', `/mcp-integrations/${slug}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
  const made = await must(owner, 'POST', '/mcp-servers', {
    name: slug,
    slug,
    mcp_integration_id: slug,
    default_access: 'allow',
    pinning: 'off',
  })
  await control.refresh()
  return { slug, id: String(made['id']), server }
}

interface Teardown {
  teardown(work: () => Promise<void>): void
}

interface Person extends TestPerson {
  readonly browser: TestBrowser
  readonly key: string
}

async function newPerson(tenant: Tenant = acme): Promise<Person> {
  const made = await addPerson(control.started, { organisationId: tenant.organisationId })
  await control.sql.query(
    `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`,
    [tenant.organisationId, tenant.workspaceId, made.id],
  )
  const key = await control.createKey(tenant, {
    workspaceId: tenant.workspaceId,
    userId: made.id,
    scopes: ['mcp.invoke', 'mcp_servers.read'],
  })
  const browser = openBrowser(control.origin, await signIn(control.started, made))
  return { ...made, key, browser }
}

const start = ({ browser }: Person, id: string) => browser.post(`/oauth/connections/${id}`, undefined)

/** Begins to sign in; returns the address at the authorization server. */
async function begin(person: Person, id: string): Promise<string> {
  const { status, text } = await start(person, id)
  if (status !== 200) throw new Error(text)
  return String(JSON.parse(text).authorize_url)
}

async function connect(person: Person, id: string): Promise<void> {
  const { status, text } = await person.browser.get(issuer.agree(await begin(person, id)))
  if (status !== 200) throw new Error(text)
}

const call = ({ key }: Pick<Person, 'key'>, slug: string, capabilities: object = {}, more: object = {}, origin = control.origin) =>
  ask(
    `${origin}/${slug}/mcp`,
    'tools/call',
    { name: 'echo', arguments: { text: 'hi' }, ...more },
    { headers: { authorization: `Bearer ${key}` }, capabilities },
  )
const said = 'echo {"text":"hi"}'
async function textOf(answer: ReturnType<typeof call>): Promise<string> {
  const { messages, text } = await answer
  return messages[0]?.result?.['content']?.[0].text ?? messages[0]?.error?.data?.['code'] ?? text
}

test.serial('a person signs in by the browser, and is called as: from the beginning to the end of the connection', async (t) => {
  const [{ slug, id, server }, ana, ben] = await Promise.all([store(t), newPerson(), newPerson()])
  t.is(await textOf(call(ana, slug)), 'authorization_required')
  const address = new URL(await begin(ana, id))
  const registered = issuer.registrations.at(-1)
  t.like(registered, {
    client_name: 'Gatehouse',
    redirect_uris: [`${ownName}/oauth/upstream-callback`],
    token_endpoint_auth_method: 'none',
  })
  t.like(Object.fromEntries(address.searchParams), {
    response_type: 'code',
    redirect_uri: `${ownName}/oauth/upstream-callback`,
    code_challenge_method: 'S256',
    resource: server.url,
    scope: 'tickets.read',
  })
  const arrived = await ana.browser.get(issuer.agree(address.href), { 'sec-fetch-site': 'cross-site' })
  t.regex(arrived.text, /http-equiv="refresh"/, 'the cookie comes along from our own page alone')
  const answer = issuer.agree(address.href)
  t.regex((await ana.browser.get(answer)).text, /<h1>Connected<\/h1>/)
  await control.refresh()
  t.is(await textOf(call(ana, slug)), said)
  t.is(await textOf(call(ben, slug)), 'authorization_required', 'another person has another connection')
  const form = issuer.tokenRequests.at(-1)?.form
  t.like(form, { grant_type: 'authorization_code', resource: server.url })
  t.is((await ana.browser.get(answer)).status, 404, 'a state is used once')
  t.is(await textOf(call(ana, slug)), said)

  const list = await control.call(acme.adminKey, 'GET', `/mcp-servers/${id}/connections`)
  t.deepEqual(
    (list.body['data'] as { user_id: string; connected: boolean }[]).map(({ user_id, connected }) => [user_id, connected]),
    [[ana.id, true]],
  )
  const access = await control.call(acme.adminKey, 'GET', `/mcp-servers/${id}/user-access`)
  const standing = new Map(
    (access.body['data'] as { user_id: string; connection_status: string }[]).map((one) => [one.user_id, one.connection_status]),
  )
  t.is(standing.get(ana.id), 'connected')
  t.is(standing.get(ben.id), 'not_connected')

  const dump = await control.dump()
  for (const secret of [
    server.shown.at(-1) ?? '',
    form?.['code'] ?? '',
    form?.['code_verifier'] ?? '',
    address.searchParams.get('state') ?? '',
  ])
    t.false(dump.includes(secret), 'secrets are sealed, and in no log and no trail')

  t.is((await control.call(ben.key, 'DELETE', `/mcp-servers/${id}/connections?user_id=${ana.id}`)).status, 403)
  t.is((await control.call(ben.key, 'DELETE', `/mcp-servers/${id}/connections`)).status, 403)
  t.is((await control.call(ana.key, 'DELETE', `/mcp-servers/${id}/connections?user_id=${ana.id}`)).status, 200)
  await control.refresh()
  t.is(await textOf(call(ana, slug)), 'authorization_required')
  const trail = await control.sql.query<{ action: string }>(
    `SELECT action FROM audit_logs WHERE organisation_id = $1 AND action IN ('begin', 'connect', 'disconnect') ORDER BY seq`,
    [acme.organisationId],
  )
  t.deepEqual(
    trail.rows.map(({ action }) => action),
    ['begin', 'connect', 'disconnect'],
  )
})

test.serial('a call without a connection leads its person to the page, in the form that its client understands', async (t) => {
  const [{ slug, id }, ana] = await Promise.all([store(t), newPerson()])
  const page = `${ownName}/oauth/connect?server=${id}`
  const plain = await call(ana, slug)
  t.is(plain.status, 200)
  t.like(plain.messages[0]?.error, { code: -32000, data: { code: 'authorization_required', url: page } })
  t.true(plain.messages[0]?.error?.message.includes(page))
  const asked = await call(ana, slug, { elicitation: { url: {} } })
  t.like(asked.messages[0]?.result, { resultType: 'input_required' })
  const question = asked.messages[0]?.result?.['inputRequests'].gatehouse_connect
  t.like(question, { method: 'elicitation/create', params: { mode: 'url', url: page } })
  const declined = await call(ana, slug, { elicitation: { url: {} } }, { inputResponses: { gatehouse_connect: { action: 'decline' } } })
  t.is(declined.messages[0]?.error?.data?.['code'], 'authorization_required')

  const legacy = await legacyInitialize(`${control.origin}/${slug}/mcp`, ana.key, { elicitation: { url: {} } })
  t.like(legacy.messages[0]?.error, { code: -32042 })
  const { elicitations } = (legacy.messages[0]?.error?.data ?? {}) as { readonly elicitations?: readonly object[] }
  t.like(elicitations?.[0], { mode: 'url', url: page })

  const shown = await ana.browser.get(`/oauth/connect?server=${id}`)
  t.is(shown.status, 200)
  const csrf = /name="csrf" value="([^"]+)"/.exec(shown.text)?.[1] ?? ''
  const submit = (value: string, headers: Readonly<Record<string, string>> = {}) =>
    ana.browser.post(
      `/oauth/connect?server=${id}`,
      undefined,
      { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      `csrf=${encodeURIComponent(value)}`,
    )
  t.is((await submit('wrong')).status, 403)
  t.is((await submit(csrf, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.is((await submit(csrf, { origin: 'https://evil.example' })).status, 403)
  const sent = await submit(csrf)
  const address = /content="0;url=([^"]+)"/.exec(sent.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.is(new URL(address).origin, issuer.origin)
  t.is((await ana.browser.get(issuer.agree(address))).status, 200)
  await control.refresh()
  const again = await call(ana, slug, { elicitation: { url: {} } }, { inputResponses: { gatehouse_connect: { action: 'accept' } } })
  t.is(again.messages[0]?.result?.['content'][0].text, said)
})

test.serial('the key of a service has no sign-in', async (t) => {
  const { slug } = await store(t)
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['mcp.invoke'] })
  t.is((await call({ key }, slug)).messages[0]?.error?.data?.['code'], 'forbidden')
})

test.serial('answers that are not for this sign-in connect no server', async (t) => {
  const [{ id, slug }, ana, ben, eve] = await Promise.all([store(t), newPerson(), newPerson(), newPerson(rival)])
  const asked = async () => begin(ana, id)
  const before = issuer.tokenRequests.length
  const refused = async (what: string, answer: string, browser = ana.browser) => {
    const { status, headers, text } = await browser.get(answer)
    t.true(status >= 400 && status < 503, what)
    t.is(headers.location, undefined, what)
    t.regex(text, /Not connected/, what)
  }
  await refused('the issuer is another one (mix-up)', issuer.agree(await asked(), { iss: 'https://evil.example' }))
  await refused('the issuer is missing, although its server names itself', issuer.agree(await asked(), { iss: null }))
  await refused('a state that was never given', issuer.agree(await asked(), { state: 'guessed' }))
  await refused('no state', issuer.agree(await asked(), { state: null }))
  await refused('no code', issuer.agree(await asked(), { code: null }))
  await refused('a refusal', issuer.agree(await asked(), { code: null, error: 'access_denied' }))
  await refused('a refusal with markup', issuer.agree(await asked(), { code: null, error: '<script>alert(1)</script>' }))
  const answer = issuer.agree(await asked())
  await refused('the browser of another person', answer, ben.browser)
  await refused('a person of another organisation', answer, eve.browser)
  await refused('another session of the same person', answer, openBrowser(control.origin, await signIn(control.started, ana)))
  await refused('a browser without a session', answer, openBrowser(control.origin, null))
  t.is(issuer.tokenRequests.length, before, 'no code was shown to the authorization server')
  await refused('a code of another sign-in', issuer.agree(await asked(), { code: 'stolen' }))
  await control.sql.query(`UPDATE mcp_connection_requests SET expires_at = now() - interval '1 second'`)
  await refused('a sign-in whose time is over', answer)
  await control.refresh()
  t.is(await textOf(call(ana, slug)), 'authorization_required')
})

test.serial('what the authorization server says of itself is checked before a person goes there', async (t) => {
  const [{ id }, ana] = await Promise.all([store(t), newPerson()])
  const refused = async (what: string, metadata: object, at = id) => {
    issuer.metadata = { ...metadata }
    const { status, text } = await start(ana, at)
    t.true(status >= 400 && status < 503, `${what} ${text}`)
    t.false(text.includes('authorize_url'))
  }
  await refused('no PKCE', { code_challenge_methods_supported: ['plain'] })
  await refused('no word on PKCE', { code_challenge_methods_supported: null })
  await refused('a script as its page', { authorization_endpoint: 'javascript:alert(1)' })
  await refused('a page at a private address', { authorization_endpoint: 'http://10.0.0.1/authorize' })
  await refused('no page', { authorization_endpoint: null })
  await refused('a registration at a private address', { registration_endpoint: 'http://169.254.169.254/register' })
  await refused('no way to become a client', { registration_endpoint: null }, (await store(t)).id)
  await refused('another issuer', { issuer: 'https://evil.example' })
})

test.serial('other tenants, and people without access, connect no server', async (t) => {
  const [{ id, slug }, ana, eve] = await Promise.all([store(t), newPerson(), newPerson(rival)])
  t.is((await start(eve, id)).status, 404)
  t.is((await eve.browser.get(`/oauth/connect?server=${id}`)).status, 404)
  t.is((await control.call(rival.adminKey, 'GET', `/mcp-servers/${id}/connections`)).status, 404)
  t.is((await control.call(rival.adminKey, 'DELETE', `/mcp-servers/${id}/connections`)).status, 404)
  await must({ control, tenant: acme }, 'PUT', `/mcp-servers/${slug}/user-access`, { user_access: [{ user_id: ana.id, enabled: false }] })
  t.is((await start(ana, id)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'POST', `/mcp-servers/${id}/connections`)).status, 405, 'a key signs no person in')
})

/** Lets the tokens of a person end. */
async function spend(id: string): Promise<void> {
  await control.sql.query(`UPDATE mcp_grants SET expires_at = now(), generation = generation + 1 WHERE server_id = $1`, [id])
  await control.refresh()
}

test.serial('refresh tokens rotate, once for all callers of two processes', async (t) => {
  const [{ id, slug, server }, ana] = await Promise.all([store(t), newPerson()])
  await connect(ana, id)
  await control.refresh()
  const other = await control.openBeside()
  for (const round of [1, 2]) {
    await spend(id)
    const before = issuer.tokenRequests.length
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) => textOf(call(ana, slug, {}, {}, at % 2 === 0 ? control.origin : other))),
    )
    t.true(
      all.every((one) => one === said),
      `${round}: ${all.join()}`,
    )
    t.is(issuer.tokenRequests.length - before, 1)
    t.like(issuer.tokenRequests.at(-1)?.form, { grant_type: 'refresh_token', resource: server.url })
  }
})

test.serial('a renewal that loses a race does not end the connection', async (t) => {
  const [{ id, slug }, ana] = await Promise.all([store(t), newPerson()])
  await connect(ana, id)
  await spend(id)
  issuer.hold = { came: Promise.withResolvers(), go: Promise.withResolvers() }
  const { hold } = issuer
  const running = textOf(call(ana, slug))
  await hold.came.promise
  // Another process has stored newer tokens: the refresh token of this one is used up.
  await control.sql.query(
    `UPDATE mcp_grants SET generation = generation + 1, claimed_until = NULL, expires_at = now() + interval '1 hour' WHERE server_id = $1`,
    [id],
  )
  const kept = [...issuer.refreshing]
  issuer.refreshing.clear()
  issuer.hold = null
  hold.go.resolve()
  t.is(await running, said)
  for (const one of kept) issuer.refreshing.add(one)
  await spend(id)
  t.is(await textOf(call(ana, slug)), said)
})

test.serial('a renewal of a process that has died is taken over', async (t) => {
  const [{ id, slug }, ana] = await Promise.all([store(t), newPerson()])
  await connect(ana, id)
  await spend(id)
  await control.sql.query(`UPDATE mcp_grants SET claimed_until = now() + interval '1 second' WHERE server_id = $1`, [id])
  t.is(await textOf(call(ana, slug)), said)
})

test.serial('a person whose renewed token is refused too is asked to sign in again', async (t) => {
  const [{ id, slug }, ana] = await Promise.all([store(t), newPerson()])
  await connect(ana, id)
  await control.refresh()
  issuer.valid.clear()
  issuer.answers.set(
    '/token',
    (_, res) => void res.end(JSON.stringify({ access_token: 'not-good-at-all', token_type: 'Bearer', refresh_token: 'r' })),
  )
  const { messages, text } = await call(ana, slug)
  t.is(messages[0]?.error?.data?.['code'], 'authorization_required')
  t.false(text.includes('not-good-at-all'))
})

test.serial('a connection that is not renewed any more is over: the trail says so, and the person is asked again', async (t) => {
  const [{ id, slug }, ana] = await Promise.all([store(t), newPerson()])
  await connect(ana, id)
  await spend(id)
  issuer.answers.set('/token', (_, res) => void res.writeHead(503).end())
  t.is(await textOf(call(ana, slug)), 'credential_failed', 'a failure for a moment ends no connection')
  issuer.answers.clear()
  issuer.refreshing.clear()
  t.is(await textOf(call(ana, slug)), 'authorization_required')
  const { rowCount } = await control.sql.query('SELECT id FROM mcp_grants WHERE server_id = $1', [id])
  t.is(rowCount, 0)
  const trail = await control.sql.query(`SELECT id FROM audit_logs WHERE resource_type = 'mcp-connection' AND action = 'end'`)
  t.is(trail.rowCount, 1)
  await connect(ana, id)
  await control.refresh()
  t.is(await textOf(call(ana, slug)), said)
})

test.serial('Gatehouse is a client by its document where such are taken, or by the one that is configured', async (t) => {
  const ana = await newPerson()
  const clientId = `${ownName}/oauth/client`
  issuer.metadata = { client_id_metadata_document_supported: true }
  issuer.clients.set(clientId, null)
  const first = await store(t)
  const registered = issuer.registrations.length
  t.is(new URL(await begin(ana, first.id)).searchParams.get('client_id'), clientId)
  t.is(issuer.registrations.length, registered)
  const document = JSON.parse((await openBrowser(control.origin, null).get('/oauth/client')).text) as Readonly<Record<string, unknown>>
  t.like(document, { client_id: clientId, redirect_uris: [`${ownName}/oauth/upstream-callback`], token_endpoint_auth_method: 'none' })
  await connect(ana, first.id)

  issuer.clients.set('configured', 'with a secret')
  const second = await store(t, {
    issuer: issuer.issuer,
    client_id: 'configured',
    client_secret: 'with a secret',
    scopes: ['api://x/.default'],
    sends_resource: false,
  })
  issuer.metadata = { code_challenge_methods_supported: null, authorization_response_iss_parameter_supported: null }
  const address = new URL(await begin(ana, second.id))
  t.like(Object.fromEntries(address.searchParams), { client_id: 'configured', scope: 'api://x/.default', code_challenge_method: 'S256' })
  t.false(address.searchParams.has('resource'), 'such as Entra')
  t.is((await ana.browser.get(issuer.agree(address.href, { iss: null }))).status, 200)
  t.false('resource' in (issuer.tokenRequests.at(-1)?.form ?? {}))
  await control.refresh()
  t.is(await textOf(call(ana, second.slug)), said)
})

test.serial('a person asks for a test and a sync with their own connection', async (t) => {
  const [{ id, slug }, ana] = await Promise.all([store(t), newPerson()])
  await control.sql.query(`UPDATE workspace_members SET role = 'manager' WHERE user_id = $1`, [ana.id])
  const key = await control.createKey(acme, {
    workspaceId: acme.workspaceId,
    userId: ana.id,
    scopes: ['mcp_servers.read', 'mcp_servers.update'],
  })
  const before = await control.call(key, 'POST', `/mcp-servers/${slug}/test`)
  t.like(before.body, { success: false })
  await connect(ana, id)
  t.like((await control.call(key, 'POST', `/mcp-servers/${slug}/test`)).body, { success: true, server_name: 'stub' })
})
