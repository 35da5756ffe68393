// People let programs use MCP servers as themselves: the whole way through HTTP, with the official client, and each attack that it has to withstand.
import test from 'ava'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { badDocuments, type ProgramHost, redirectUri, startProgramHost } from '../../support/mcp/program-host.ts'
import { ask } from '../../support/mcp/raw-client.ts'
import {
  askingAddress,
  issuer,
  letIn,
  newVerifier,
  openBrowser,
  redeem,
  refresh,
  requestIn,
  sendForm,
} from '../../support/mcp/sign-in-flow.ts'
import { addPerson, type Browser, signIn, type TestPerson } from '../../support/people.ts'
import { send } from '../../support/http.ts'
import { logsOf, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant
let reference: LegacyReference
let programs: ProgramHost
let person: TestPerson
let signedIn: Browser
let clientId: string
const servers = { tickets: '', notes: '', rivals: '' }

test.before(async () => {
  ;[reference, programs] = await Promise.all([startLegacyServer(), startProgramHost()])
  control = await startControl({}, { PUBLIC_URL: issuer, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost', STORED_ITEMS_MAX: 'mcp_sign_ins=90' })
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  for (const slug of ['tickets', 'notes']) await storeServer({ control, tenant: acme }, slug, reference.url)
  await storeServer({ control, tenant: rival }, 'tickets', reference.url)
  servers.tickets = String((await must({ control, tenant: acme }, 'GET', '/mcp-servers/tickets'))['id'])
  servers.notes = String((await must({ control, tenant: acme }, 'GET', '/mcp-servers/notes'))['id'])
  servers.rivals = String((await must({ control, tenant: rival }, 'GET', '/mcp-servers/tickets'))['id'])
  await must({ control, tenant: acme }, 'POST', '/mcp-integrations/tickets/sync')
  for (const { organisationId } of [acme, rival]) await setUp(organisationId, { membersManageApiKeys: true })
  person = await newPerson()
  signedIn = await signIn(control.started, person)
  clientId = programs.serve('/notes.json')
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await Promise.all([reference?.stop(), programs?.stop()])
})

/** Changes settings of an organisation. */
const setUp = (organisationId: string, settings: Readonly<Record<string, unknown>>) =>
  control.sql.query('UPDATE organisations SET settings = settings || $2::jsonb WHERE id = $1', [organisationId, JSON.stringify(settings)])

async function newPerson(tenant: Tenant = acme): Promise<TestPerson> {
  const made = await addPerson(control.started, { organisationId: tenant.organisationId })
  await control.sql.query(
    `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`,
    [tenant.organisationId, tenant.workspaceId, made.id],
  )
  return made
}

const browserOfPerson = (origin = control.origin) => openBrowser(origin, signedIn)
const echo = { name: 'echo', arguments: { text: 'as the person' } }
const call = (token: string, server = 'tickets', origin = control.origin) =>
  ask(`${origin}/${server}/mcp`, 'tools/call', echo, { headers: { authorization: `Bearer ${token}` } })

/** Lets the program in, and returns its tokens. */
async function tokensOf(params: Readonly<Record<string, string>> = {}, serverId = servers.tickets) {
  const answered = await letIn({ browser: browserOfPerson(), clientId, serverId, params })
  const resource = params['resource'] ?? `${issuer}/tickets/mcp`
  const { body, status } = await redeem(control.origin, clientId, answered.searchParams.get('code') ?? '', { resource })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { access: body['access_token'] ?? '', refreshing: body['refresh_token'] ?? '', body }
}

test.serial(
  'the official client finds its way from a refusal to a call, and refreshes, with nothing but the address of the server',
  async (t) => {
    const url = `${control.origin}/tickets/mcp`
    const refused = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    t.is(refused.status, 401)
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refused)
    t.is(resourceMetadataUrl?.href, `${issuer}/.well-known/oauth-protected-resource/tickets/mcp`)
    t.is(scope, 'mcp.invoke')

    const browser = browserOfPerson()
    const kept: { tokens?: OAuthTokens; verifier?: string; sent?: URL } = {}
    const provider: OAuthClientProvider = {
      redirectUrl: redirectUri,
      clientMetadataUrl: clientId,
      clientMetadata: { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
      clientInformation: () => (kept.sent === undefined ? undefined : { client_id: clientId }),
      saveClientInformation: () => {},
      tokens: () => kept.tokens,
      saveTokens: (tokens) => void (kept.tokens = tokens),
      redirectToAuthorization: (address) => void (kept.sent = address),
      saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier ?? '',
    }
    const fetchFn = (address: string | URL, init?: RequestInit) => fetch(String(address).replace(issuer, control.origin), init)
    const options = {
      serverUrl: `${issuer}/tickets/mcp`,
      fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    }
    t.is(await auth(provider, options), 'REDIRECT')
    const id = requestIn(await browser.get(kept.sent?.href ?? ''))
    const shown = JSON.parse((await browser.get(`/oauth/requests/${id}`, { accept: 'application/json' })).text)
    t.like(shown, {
      client: { id: clientId, name: 'Notes on <b>tickets</b>', host: new URL(clientId).host },
      redirect: { host: '127.0.0.1', is_loopback: true },
      resource: `${issuer}/tickets/mcp`,
    })
    t.deepEqual(
      shown.servers.map((one: { id: string }) => one.id),
      [servers.tickets],
      'the server of another organisation has the same slug',
    )
    t.true(shown.servers[0].tools.includes('echo'))
    const decided = await browser.post(`/oauth/requests/${id}`, { decision: 'allow', mcp_server_id: servers.tickets })
    const answered = new URL((await browser.get(JSON.parse(decided.text).redirect_to)).headers.location ?? '')
    t.is(answered.origin + answered.pathname, redirectUri)
    t.is(answered.searchParams.get('iss'), issuer)
    t.is(await auth(provider, { ...options, authorizationCode: answered.searchParams.get('code') ?? '' }), 'AUTHORIZED')
    t.like(kept.tokens, { token_type: 'Bearer', scope: 'mcp.invoke', expires_in: 3600 })
    t.is((await call(kept.tokens?.access_token ?? '')).messages[0]?.result?.['content'][0].text, 'as the person')
    const before = kept.tokens?.access_token
    t.is(await auth(provider, options), 'AUTHORIZED')
    t.not(kept.tokens?.access_token, before)
    t.is((await call(kept.tokens?.access_token ?? '')).status, 200)

    const row = (await logsOf({ control, tenant: acme }, 'tickets', 2)).at(-1)
    t.is(row?.['user_id'], person.id)
    t.like(row?.['metadata'], { mcp_client: new URL(clientId).host, mcp_server: 'tickets' })
  },
)

test.serial('metadata is that of the standards, and the same for servers that are there and that are not', async (t) => {
  const read = async (path: string) => JSON.parse((await send(control.origin + path)).text)
  const server = await read('/.well-known/oauth-authorization-server')
  t.like(server, {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
  t.false('registration_endpoint' in server)
  t.deepEqual(await read('/.well-known/openid-configuration'), server)
  const named = (path: string) => read(`/.well-known/oauth-protected-resource${path}`)
  t.deepEqual(await named('/tickets/mcp'), {
    resource: `${issuer}/tickets/mcp`,
    authorization_servers: [issuer],
    scopes_supported: ['mcp.invoke'],
    bearer_methods_supported: ['header'],
  })
  t.deepEqual({ ...(await named('/nowhere/mcp')), resource: null }, { ...(await named('/tickets/mcp')), resource: null })
  t.is((await send(`${control.origin}/.well-known/oauth-protected-resource/v1/models`)).status, 404)
  t.is((await send(`${control.origin}/oauth/register`, { method: 'POST' })).status, 404)
})

test.serial('a browser without a session signs in first, and one that another site sends comes back with its cookies', async (t) => {
  const stranger = openBrowser(control.origin, null)
  const address = askingAddress(clientId)
  const asked = programs.asked.length
  const sent = await stranger.get(address)
  t.is(sent.status, 303)
  t.is(sent.headers.location, `${issuer}/console/sign-in?return_to=${encodeURIComponent(address)}`)
  const foreign = await browserOfPerson().get(address, { 'sec-fetch-site': 'cross-site' })
  t.is(foreign.status, 200)
  t.regex(foreign.text, /http-equiv="refresh" content="0;url=\.\/authorize\?response_type=code&amp;/)
  t.is(foreign.headers['x-frame-options'], 'DENY')
  t.regex(String(foreign.headers['content-security-policy']), /frame-ancestors 'none'/)
  t.is(programs.asked.length, asked, 'no document was fetched for a stranger')
  const { rows } = await control.sql.query("SELECT 1 FROM mcp_sign_in_secrets WHERE kind = 'Interaction'")
  t.is(rows.length, 0)
  const page = await send(`${control.origin}/console/let-in`)
  t.is(page.status, 200)
  t.is(page.headers['x-frame-options'], 'DENY')
  t.regex(String(page.headers['content-security-policy']), /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/)
})

const asked: readonly [what: string, params: Readonly<Record<string, string | null>>, error: string][] = [
  ['without a challenge', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
  ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['without a resource', { resource: null }, 'invalid_target'],
  ['for the model API', { resource: `${issuer}/v1/models` }, 'invalid_target'],
  ['for another host', { resource: 'https://other.example/tickets/mcp' }, 'invalid_target'],
  ['for an address with a query', { resource: `${issuer}/tickets/mcp?as=admin` }, 'invalid_target'],
  ['for a token without a code', { response_type: 'token' }, 'unsupported_response_type'],
  ['without showing a page', { prompt: 'none' }, 'login_required'],
]

for (const [what, params, error] of asked)
  test.serial(`a program that asks ${what} is told so at its address: ${error}`, async (t) => {
    const answer = await browserOfPerson().get(askingAddress(clientId, params))
    t.is(answer.status, 303, answer.text)
    const { origin, pathname, search, hash } = new URL(answer.headers.location ?? '')
    const searchParams = new URLSearchParams(search === '' ? hash.slice(1) : search)
    t.is(origin + pathname, redirectUri)
    t.is(searchParams.get('error'), error)
    t.is(searchParams.get('iss'), issuer)
    t.is(searchParams.get('state'), 'state of the program')
  })

for (const more of [`resource=${encodeURIComponent(`${issuer}/notes/mcp`)}`, 'response_mode=form_post', 'response_mode=fragment'])
  test.serial(`a program that also asks for ${more} is not answered`, async (t) => {
    const answer = await browserOfPerson().get(`${askingAddress(clientId)}&${more}`)
    t.is(answer.status, 400)
    t.is(answer.headers.location, undefined)
    t.regex(answer.text, /must (?:name one MCP server|be query)/)
  })

const elsewhere: readonly [what: string, redirect: string][] = [
  ['another host', 'https://evil.example/callback'],
  ['a user in front', 'http://127.0.0.1@evil.example/callback'],
  ['a fragment', 'http://127.0.0.1/callback#there'],
  ['another path', 'http://127.0.0.1/callback/more'],
  ['a query', 'http://127.0.0.1/callback?to=evil'],
  ['other letters', 'http://127.0.0.1/Callback'],
  ['another scheme', 'javascript:alert(1)'],
  ['another name of the machine', 'http://localhost/callback'],
]

for (const [what, redirect] of elsewhere)
  test.serial(`an answer never goes to an address that the program has not registered: ${what}`, async (t) => {
    const answer = await browserOfPerson().get(askingAddress(clientId, { redirect_uri: redirect, resource: null }))
    t.is(answer.status, 400)
    t.is(answer.headers.location, undefined)
    t.regex(answer.text, /cannot be let in/)
    t.notRegex(answer.text, /<b>/)
  })

test.serial('a program on the machine of the person may take any port there', async (t) => {
  const params = { redirect_uri: 'http://127.0.0.1:49152/callback' }
  const answered = await letIn({ browser: browserOfPerson(), clientId, serverId: servers.tickets, params })
  t.is(answered.host, '127.0.0.1:49152')
})

for (const [index, [what, make]] of badDocuments.entries())
  test.serial(`a program whose document is one ${what} is not let in`, async (t) => {
    const id = make(programs, `/bad-${index}.json`)
    const answer = await browserOfPerson().get(askingAddress(id))
    t.is(answer.headers.location, undefined, answer.headers.location)
    t.true(answer.status === 400 || answer.status === 401, String(answer.status))
    t.regex(answer.text, /cannot be let in/)
  })

test.serial('a document is fetched once, and every organisation keeps to the hosts that it allows', async (t) => {
  const id = programs.serve('/often.json')
  for (const _ of [1, 2, 3]) requestIn(await browserOfPerson().get(askingAddress(id)))
  t.is(programs.asked.filter((path) => path === '/often.json').length, 1)
  const theirs = await newPerson(rival)
  await control.sql.query(`UPDATE organisations SET settings = settings || '{"allowed_custom_hosts":["only.example"]}' WHERE id = $1`, [
    rival.organisationId,
  ])
  const browser = openBrowser(control.origin, await signIn(control.started, theirs))
  t.regex((await browser.get(askingAddress(id))).text, /cannot be let in/)
  await control.sql.query(`UPDATE organisations SET settings = settings - 'allowed_custom_hosts' WHERE id = $1`, [rival.organisationId])
})

test.serial('a decision needs the page of this origin, its token, the person who was asked, and a server of theirs', async (t) => {
  const browser = browserOfPerson()
  const id = requestIn(await browser.get(askingAddress(clientId)))
  const path = `/oauth/requests/${id}`
  const allow = { decision: 'allow', mcp_server_id: servers.tickets }
  t.is((await browser.post(path, allow, { 'x-csrf-token': 'made up' })).status, 403)
  t.is((await browser.post(path, allow, { origin: 'https://evil.example' })).status, 403)
  t.not((await browser.post(path, allow, { 'sec-fetch-site': 'cross-site' })).status, 200)
  const another = openBrowser(control.origin, await signIn(control.started, await newPerson()))
  t.is((await another.post(path, allow)).status, 404)
  t.is((await another.get(path, { accept: 'application/json' })).status, 404)
  const foreigner = openBrowser(control.origin, await signIn(control.started, await newPerson(rival)))
  t.is((await foreigner.post(path, allow)).status, 404)
  for (const serverId of [servers.notes, servers.rivals])
    t.is((await browser.post(path, { ...allow, mcp_server_id: serverId })).status, 403, 'not the server that the program asks for')
  t.is(
    (
      await send(`${control.origin}${path}`, {
        method: 'POST',
        headers: { 'x-service-api-key': acme.adminKey, 'content-type': 'application/json' },
        body: JSON.stringify(allow),
      })
    ).status,
    401,
    'a key is no person',
  )
  const decided = await browser.post(path, allow)
  t.is(decided.status, 200)
  t.is((await browser.post(path, allow)).status, 409, 'it is decided once')
  const stolen = await another.get(JSON.parse(decided.text).redirect_to)
  t.is(stolen.headers.location, undefined, 'another browser does not get the answer')
})

test.serial('a person who does not allow it sends the program away', async (t) => {
  const browser = browserOfPerson()
  const id = requestIn(await browser.get(askingAddress(clientId)))
  const decided = await browser.post(`/oauth/requests/${id}`, { decision: 'deny' })
  const answered = new URL((await browser.get(JSON.parse(decided.text).redirect_to)).headers.location ?? '')
  t.is(answered.searchParams.get('error'), 'access_denied')
  t.is(answered.searchParams.get('code'), null)
})

test.serial(
  'a code is redeemed once, by its program, for its address, with its verifier; used again it ends all that it gave',
  async (t) => {
    const answered = await letIn({ browser: browserOfPerson(), clientId, serverId: servers.tickets })
    const code = answered.searchParams.get('code') ?? ''
    const other = programs.serve('/mixed-up.json')
    const wrong: readonly [string, Readonly<Record<string, string>>][] = [
      ['no verifier', { code_verifier: '' }],
      ['another verifier', { code_verifier: newVerifier() }],
      ['another address', { redirect_uri: 'http://127.0.0.1:1/callback' }],
      ['another program', { client_id: other }],
      ['another server', { resource: `${issuer}/notes/mcp` }],
    ]
    for (const [what, fields] of wrong.slice(0, 4)) {
      const { status, body } = await redeem(control.origin, clientId, code, fields)
      t.is(status, 400, what)
      if (what === 'another program') t.is(body['error'], 'invalid_client', 'its document is not fetched: no person has let it in')
    }
    const good = await redeem(control.origin, clientId, code)
    t.is(good.status, 200, JSON.stringify(good.body))
    t.is(good.headers['cache-control'], 'no-store')
    const token = good.body['access_token'] ?? ''
    t.is((await call(token)).status, 200)
    t.like((await redeem(control.origin, clientId, code)).body, { error: 'invalid_grant' })
    await control.refresh()
    t.is((await call(token)).status, 401)
    t.is((await refresh(control.origin, clientId, good.body['refresh_token'] ?? '')).status, 400)
  },
)

test.serial('a code for one server is none for another', async (t) => {
  const answered = await letIn({ browser: browserOfPerson(), clientId, serverId: servers.tickets })
  const { status, body } = await redeem(control.origin, clientId, answered.searchParams.get('code') ?? '', {
    resource: `${issuer}/notes/mcp`,
  })
  t.deepEqual([status, body['error']], [400, 'invalid_target'])
})

test.serial('two who redeem one code at the same time get nothing that lasts', async (t) => {
  const other = await control.openBeside()
  const answered = await letIn({ browser: browserOfPerson(), clientId, serverId: servers.tickets })
  const code = answered.searchParams.get('code') ?? ''
  const both = await Promise.all([control.origin, other, control.origin, other].map((origin) => redeem(origin, clientId, code)))
  t.true(both.filter(({ status }) => status === 200).length <= 1)
  await control.refresh()
  for (const { body } of both) if (body['access_token'] !== undefined) t.is((await call(body['access_token'])).status, 401)
})

test.serial('a refresh token serves once; the second use ends the sign-in, and the trail says so', async (t) => {
  const first = await tokensOf()
  const second = await refresh(control.origin, clientId, first.refreshing)
  t.is(second.status, 200, JSON.stringify(second.body))
  const token = second.body['access_token'] ?? ''
  t.is((await call(token)).status, 200)
  t.is((await refresh(control.origin, clientId, first.refreshing)).status, 400)
  await control.refresh()
  t.is((await call(token)).status, 401)
  t.is((await refresh(control.origin, clientId, second.body['refresh_token'] ?? '')).status, 400)
  const { rows } = await control.sql.query<{ action: string; user_id: string }>(
    "SELECT action, user_id FROM audit_logs WHERE resource_type = 'mcp-sign-in' AND organisation_id = $1 ORDER BY seq DESC LIMIT 2",
    [acme.organisationId],
  )
  t.deepEqual(
    rows.map(({ action }) => action),
    ['revoke', 'allow'],
  )
  t.is(rows[0]?.user_id, person.id)
})

test.serial('a token is for one server, for the calls of MCP alone, and no key of the control plane', async (t) => {
  const { access } = await tokensOf()
  t.is((await call(access, 'tickets')).status, 200)
  const elsewhereAsked = await call(access, 'notes')
  t.is(elsewhereAsked.status, 401)
  t.regex(elsewhereAsked.headers.get('www-authenticate') ?? '', /error="invalid_token".*oauth-protected-resource\/notes\/mcp/)
  for (const path of ['/v1/mcp-sign-ins', '/v1/models', '/v1/mcp-servers'])
    t.is((await send(control.origin + path, { headers: { authorization: `Bearer ${access}` } })).status, 401, path)
  const completion = await send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: '{"model":"@openai/gpt-4o","messages":[]}',
  })
  t.is(completion.status, 401)
  const inCapitals = `gho-${access.slice(4).toUpperCase()}`
  t.is((await call(inCapitals)).status, 401)
})

test.serial('a program keeps to the rights of its person, as they are now', async (t) => {
  const { access, refreshing } = await tokensOf()
  t.is((await call(access)).status, 200)
  const owner = { control, tenant: acme }
  await must(owner, 'PUT', '/mcp-servers/tickets/user-access', { user_access: [{ user_id: person.id, enabled: false }] })
  await control.refresh()
  t.is((await call(access)).status, 403)
  const id = requestIn(await browserOfPerson().get(askingAddress(clientId)))
  const shown = JSON.parse((await browserOfPerson().get(`/oauth/requests/${id}`, { accept: 'application/json' })).text)
  t.deepEqual(shown.servers, [])
  await must(owner, 'PUT', '/mcp-servers/tickets/user-access', { user_access: [{ user_id: person.id, enabled: true }] })
  await control.refresh()
  t.is((await call(access)).status, 200)

  await control.sql.query('DELETE FROM workspace_members WHERE user_id = $1', [person.id])
  await control.refresh()
  t.is((await call(access)).status, 403, 'the person has left the workspace')
  await control.sql.query(
    `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`,
    [acme.organisationId, acme.workspaceId, person.id],
  )
  await control.refresh()
  t.is((await call(access)).status, 200)

  await control.sql.query("UPDATE users SET status = 'archived' WHERE id = $1", [person.id])
  await control.refresh()
  t.is((await call(access)).status, 401, 'the person is gone')
  t.is((await refresh(control.origin, clientId, refreshing)).status, 400)
  await control.sql.query("UPDATE users SET status = 'active' WHERE id = $1", [person.id])
})

test.serial('a person sees and ends what they allowed, and nobody else does', async (t) => {
  const { access } = await tokensOf({ resource: `${issuer}/notes/mcp` }, servers.notes)
  t.is((await call(access, 'notes')).status, 200)
  const browser = browserOfPerson()
  const list = async (one = browser) =>
    JSON.parse((await one.get('/v1/mcp-sign-ins', { accept: 'application/json' })).text).data as Record<string, unknown>[]
  const own = (await list()).find((row) => row['mcp_server_id'] === servers.notes)
  t.like(own, { client: { id: clientId }, resource: `${issuer}/notes/mcp`, object: 'mcp_sign_in' })
  const another = openBrowser(control.origin, await signIn(control.started, await newPerson()))
  t.deepEqual(await list(another), [])
  const path = `/v1/mcp-sign-ins/${String(own?.['id'])}`
  const remove = (one: Browser) =>
    send(control.origin + path, {
      method: 'DELETE',
      headers: { cookie: one.cookie, origin: issuer, 'x-csrf-token': one.csrf },
    })
  t.is((await remove(await signIn(control.started, await newPerson()))).status, 404)
  t.is((await remove(await signIn(control.started, await newPerson(rival)))).status, 404)
  const overseen = await control.call(acme.adminKey, 'GET', '/mcp-sign-ins')
  t.is(overseen.status, 200, overseen.text)
  t.true(
    (overseen.body['data'] as { user_id: string }[]).some(({ user_id }) => user_id === person.id),
    'an administrator oversees them',
  )
  t.deepEqual((await control.call(rival.adminKey, 'GET', '/mcp-sign-ins')).body['data'], [])
  t.deepEqual((await control.call(acme.sideKey, 'GET', '/mcp-sign-ins')).body['data'], [], 'in another workspace')
  t.is((await control.call(rival.adminKey, 'DELETE', path.slice(3))).status, 404)
  t.is((await control.call(acme.sideKey, 'DELETE', path.slice(3))).status, 404)
  t.is((await remove(signedIn)).status, 200)
  await control.refresh()
  t.is((await call(access, 'notes')).status, 401)
  const row = await control.sql.query("SELECT 1 FROM audit_logs WHERE resource_id = $1 AND action = 'revoke'", [own?.['id']])
  t.is(row.rows.length, 1)
})

test.serial('a program gives its tokens back, and another cannot', async (t) => {
  const { access, refreshing } = await tokensOf()
  const other = programs.serve('/thief.json')
  requestIn(await browserOfPerson().get(askingAddress(other)))
  t.is((await sendForm(control.origin, '/oauth/revoke', { client_id: other, token: refreshing })).status, 200)
  t.is((await call(access)).status, 200)
  t.is((await sendForm(control.origin, '/oauth/revoke', { client_id: clientId, token: refreshing })).status, 200)
  await control.refresh()
  t.is((await call(access)).status, 401)
  t.is((await sendForm(control.origin, '/oauth/revoke', { client_id: clientId, token: refreshing })).status, 200)
})

test.serial('two processes share all: asked at one, decided at the other, redeemed at the first, called at the second', async (t) => {
  const other = await control.openBeside()
  const [one, two] = [browserOfPerson(), browserOfPerson(other)]
  const id = requestIn(await one.get(askingAddress(clientId)))
  for (const [name, value] of one.cookies) two.cookies.set(name, value)
  const decided = await two.post(`/oauth/requests/${id}`, { decision: 'allow', mcp_server_id: servers.tickets })
  const answered = new URL((await two.get(JSON.parse(decided.text).redirect_to)).headers.location ?? '')
  const { body } = await redeem(control.origin, clientId, answered.searchParams.get('code') ?? '')
  t.is((await call(body['access_token'] ?? '', 'tickets', other)).status, 200)
})

test.serial('the database has no code and no token, and a person has a bounded number of open requests', async (t) => {
  const { access, refreshing } = await tokensOf()
  const dump = await control.dump()
  for (const secret of [access, refreshing]) t.false(dump.includes(secret))
  const browser = browserOfPerson()
  for (const _ of Array.from({ length: 25 })) requestIn(await browser.get(askingAddress(clientId)))
  const { rows } = await control.sql.query("SELECT 1 FROM mcp_sign_in_secrets WHERE kind = 'Interaction' AND user_id = $1", [person.id])
  t.is(rows.length, 20)
})

test.serial('an organisation has a bounded number of sign-ins, and another has its own', async (t) => {
  await control.sql.query(
    `INSERT INTO mcp_sign_ins (id, organisation_id, workspace_id, user_id, server_id, client_id, redirect_uri, resource, expires_at)
     SELECT gen_random_uuid(), organisation_id, workspace_id, $1, id, 'https://c.example/c', $2, 'r', now() + interval '1 day'
       FROM mcp_servers, generate_series(1, 90) WHERE id = $3`,
    [(await newPerson()).id, redirectUri, servers.tickets],
  )
  const browser = browserOfPerson()
  const id = requestIn(await browser.get(askingAddress(clientId)))
  const refused = await browser.post(`/oauth/requests/${id}`, { decision: 'allow', mcp_server_id: servers.tickets })
  t.is(refused.status, 409)
  t.true(refused.text.includes('STORED_ITEMS_MAX (mcp_sign_ins)'), refused.text)
  const theirs = openBrowser(control.origin, await signIn(control.started, await newPerson(rival)))
  t.is((await letIn({ browser: theirs, clientId, serverId: servers.rivals })).searchParams.get('error'), null)
})
