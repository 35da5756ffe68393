// Gatehouse signs in at MCP servers for itself: by client credentials, against a scripted authorization server, through HTTP.
import test from 'ava'
import { type GuardedServer, type ScriptedIssuer, startGuardedServer, startIssuer } from '../../support/mcp/guarded-server.ts'
import { callTool, must } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

const secret = 'a very secret client secret/+='
let control: Control
let tenant: Tenant
let issuer: ScriptedIssuer
let key: string
let count = 0

test.before(async () => {
  issuer = await startIssuer()
  issuer.clients.set('gatehouse at work', secret)
  control = await startControl()
  tenant = await control.createTenant('acme')
  key = await control.createKey(tenant, { workspaceId: tenant.workspaceId, scopes: ['mcp.invoke'] })
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

const oauth = () => ({ issuer: issuer.issuer, client_id: 'gatehouse at work', client_secret: secret })

/** Stores a guarded server with these settings of OAuth, and returns its slug. */
async function store(server: GuardedServer, given: object = oauth()): Promise<string> {
  const slug = `guarded-${(count += 1)}`
  const owner = { control, tenant }
  await must(owner, 'POST', '/mcp-integrations', {
    name: slug,
    slug,
    url: server.url,
    auth_type: 'oauth_client_credentials',
    transport: 'http',
    configurations: { oauth: given },
  })
  await must(owner, 'PUT', `/mcp-integrations/${slug}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
  await must(owner, 'POST', '/mcp-servers', { name: slug, slug, mcp_integration_id: slug, default_access: 'allow', pinning: 'off' })
  await control.refresh()
  return slug
}

async function guarded(t: { teardown(work: () => Promise<void>): void }): Promise<GuardedServer> {
  const server = await startGuardedServer(issuer)
  t.teardown(() => server.stop())
  return server
}

const echo = (slug: string, at = control.origin) => callTool({ ...control, origin: at }, slug, key, 'echo', { text: 'hi' })
const said = 'echo {"text":"hi"}'
const textOf = async (answer: ReturnType<typeof echo>) => {
  const { messages, text } = await answer
  return messages[0]?.result?.['content'][0].text ?? text
}
const asked = () => issuer.tokenRequests.length

test.serial('a call is made with a token, which serves the next calls too', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  const before = asked()
  t.is(await textOf(echo(slug)), said)
  t.is(await textOf(echo(slug)), said)
  t.is(asked() - before, 1)
  const { form, authorization } = issuer.tokenRequests.at(-1) ?? { form: {}, authorization: '' }
  t.deepEqual(form, { grant_type: 'client_credentials', scope: 'tickets.read', resource: server.url })
  t.regex(authorization ?? '', /^Basic /)
  const dump = await control.dump()
  t.false(dump.includes(secret), 'the secret is sealed')
  for (const token of server.shown) t.false(dump.includes(token ?? ''), 'the token is sealed, and not in the logs')
})

test.serial('answers show the client, and never its secret', async (t) => {
  const slug = await store(await guarded(t))
  const { text, body } = await control.call(tenant.adminKey, 'GET', `/mcp-integrations/${slug}`)
  t.false(text.includes(secret))
  t.like(body, {
    auth_type: 'oauth_client_credentials',
    configurations: { oauth: { issuer: issuer.issuer, client_id: 'gatehouse at work', scopes: null, sends_resource: true } },
    secret_fields: ['oauth.client_secret'],
  })
})

test.serial('settings are checked: a client has a secret and an authorization server, and stays with them', async (t) => {
  const server = await guarded(t)
  const make = (given: object) =>
    control.call(tenant.adminKey, 'POST', '/mcp-integrations', {
      name: 'x',
      url: server.url,
      auth_type: 'oauth_client_credentials',
      transport: 'http',
      configurations: { oauth: given },
    })
  for (const given of [
    {},
    { issuer: issuer.issuer },
    { client_id: 'a', client_secret: 'b' },
    { issuer: issuer.issuer, client_secret: 'b' },
  ])
    t.is((await make(given)).status, 400, JSON.stringify(given))
  t.is((await make({ ...oauth(), issuer: 'http://169.254.169.254' })).status, 400)
  t.is((await make({ ...oauth(), scopes: ['two words'] })).status, 400)
  const slug = await store(server)
  const change = (body: object) => control.call(tenant.adminKey, 'PUT', `/mcp-integrations/${slug}`, body)
  t.is((await change({ configurations: { oauth: { issuer: 'http://127.0.0.1:1', client_id: 'gatehouse at work' } } })).status, 400)
  t.is((await change({ url: 'http://localhost.example/mcp' })).status, 400)
  t.is((await change({ configurations: { oauth: { issuer: issuer.issuer, client_id: 'gatehouse at work', scopes: ['a'] } } })).status, 200)
  await control.refresh()
  t.is(await textOf(echo(slug)), said, 'the secret stays with its client')
  t.is(issuer.tokenRequests.at(-1)?.form['scope'], 'a')
})

test.serial('a token that the server refuses is renewed once, and the call is made again', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  await echo(slug)
  const before = asked()
  issuer.valid.clear()
  t.is(await textOf(echo(slug)), said)
  t.is(asked() - before, 1)
})

test.serial('a server that refuses each token gets two tries, and the error repeats no secret', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  await echo(slug)
  const before = asked()
  issuer.answers.set('/token', (_, res) =>
    res.writeHead(200).end(JSON.stringify({ access_token: 'not-good-at-all', token_type: 'Bearer' })),
  )
  issuer.valid.clear()
  server.shown.length = 0
  const { messages, text } = await echo(slug)
  t.is(messages[0]?.error?.data?.['code'], 'credential_failed')
  t.is(server.shown.length, 2)
  t.is(asked(), before)
  t.false(text.includes('not-good-at-all'))
})

test.serial('a token is renewed ahead of its end, while calls go on with the one of before', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  issuer.life = 100
  await echo(slug)
  // A token of which less than a fifth is left.
  await control.sql.query(
    `UPDATE mcp_grants SET expires_at = now() + interval '15 seconds', last_updated_at = now() - interval '85 seconds', generation = generation + 1`,
  )
  await control.refresh()
  issuer.hold = { came: Promise.withResolvers(), go: Promise.withResolvers() }
  const { hold } = issuer
  const old = server.shown.at(-1)
  t.is(await textOf(echo(slug)), said)
  t.is(server.shown.at(-1), old)
  await hold.came.promise
  issuer.hold = null
  hold.go.resolve()
})

test.serial('fifty callers at two processes ask for one token', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  const other = await control.openBeside()
  const before = asked()
  const all = await Promise.all(Array.from({ length: 50 }, (_, at) => textOf(echo(slug, at % 2 === 0 ? control.origin : other))))
  for (const one of all) t.is(one, said)
  t.is(asked() - before, 1)
  await control.sql.query(`UPDATE mcp_grants SET expires_at = now(), generation = generation + 1`)
  await control.refresh()
  const later = await Promise.all(Array.from({ length: 50 }, (_, at) => textOf(echo(slug, at % 2 === 0 ? control.origin : other))))
  for (const one of later) t.is(one, said)
  t.is(asked() - before, 2)
})

test.serial('an authorization server without resource indicators is asked by scopes alone, such as Entra', async (t) => {
  const server = await guarded(t)
  const slug = await store(server, { ...oauth(), scopes: ['api://tickets/.default'], sends_resource: false })
  t.is(await textOf(echo(slug)), said)
  t.deepEqual(issuer.tokenRequests.at(-1)?.form, { grant_type: 'client_credentials', scope: 'api://tickets/.default' })
})

test.serial('a client that shows its secret in the form does so', async (t) => {
  issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
  const slug = await store(await guarded(t))
  t.is(await textOf(echo(slug)), said)
  t.like(issuer.tokenRequests.at(-1)?.form, { client_id: 'gatehouse at work', client_secret: secret })
})

test.serial('metadata are found at each known address', async (t) => {
  const server = await guarded(t)
  server.challenge = 'Bearer'
  const documents = {
    '/tenant': { issuer: `${issuer.origin}/tenant`, token_endpoint: `${issuer.origin}/token` },
  }
  for (const path of [
    '/.well-known/oauth-authorization-server/tenant',
    '/.well-known/openid-configuration/tenant',
    '/tenant/.well-known/openid-configuration',
  ]) {
    issuer.answers.clear()
    issuer.answers.set(path, (_, res) => res.writeHead(200).end(JSON.stringify(documents['/tenant'])))
    const slug = await store(server, { ...oauth(), issuer: `${issuer.origin}/tenant` })
    t.is(await textOf(echo(slug)), said, path)
  }
  server.metadata = null
  t.is(await textOf(echo(await store(server))), said, 'a server without metadata')
})

const refusals: Readonly<Record<string, (server: GuardedServer) => void>> = {
  'metadata that name another resource': (server) =>
    (server.metadata = { resource: 'https://else.example/mcp', authorization_servers: [issuer.issuer] }),
  'metadata of a sibling path': (server) =>
    (server.metadata = { resource: server.url.replace('/mcp', '/mc'), authorization_servers: [issuer.issuer] }),
  'metadata without a resource': (server) => (server.metadata = { authorization_servers: [issuer.issuer] }),
  'metadata at a private address': (server) => (server.challenge = 'Bearer resource_metadata="http://169.254.169.254/latest/meta-data"'),
  'metadata at no address': (server) => (server.challenge = 'Bearer resource_metadata="file:///etc/passwd"'),
  'the metadata of another issuer': () => (issuer.metadata = { issuer: 'https://evil.example' }),
  'a token endpoint at a private address': () => (issuer.metadata = { token_endpoint: 'http://10.0.0.1/token' }),
  'a token endpoint that is no address': () => (issuer.metadata = { token_endpoint: 'javascript:alert(1)' }),
  'no token endpoint': () => (issuer.metadata = { token_endpoint: null }),
  'metadata without end': () =>
    void issuer.answers.set('/.well-known/oauth-authorization-server', (_, res) => void res.end(Buffer.alloc(1024 * 1024, 32))),
  'metadata that lead on': () =>
    void issuer.answers.set(
      '/.well-known/oauth-authorization-server',
      (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    ),
  'metadata that are no JSON': () => void issuer.answers.set('/.well-known/oauth-authorization-server', (_, res) => void res.end('<html>')),
  'a token that is garbage': () => void issuer.answers.set('/token', (_, res) => void res.end('<html>')),
  'a token of another kind': () =>
    void issuer.answers.set('/token', (_, res) => void res.end(JSON.stringify({ access_token: 'x', token_type: 'DPoP' }))),
  'a token with line breaks': () =>
    void issuer.answers.set('/token', (_, res) => void res.end(JSON.stringify({ access_token: 'x\r\ny: z', token_type: 'Bearer' }))),
  'a refusal that repeats the secret': () =>
    void issuer.answers.set(
      '/token',
      (_, res) => void res.writeHead(400).end(JSON.stringify({ error: secret, error_description: secret })),
    ),
}

for (const [what, script] of Object.entries(refusals))
  test.serial(`refused without a secret and without a call: ${what}`, async (t) => {
    const server = await guarded(t)
    script(server)
    const slug = await store(server)
    const { messages, text } = await echo(slug)
    t.true(['credential_failed', 'blocked_host'].includes(String(messages[0]?.error?.data?.['code'])), text)
    t.false(text.includes(secret))
    t.is(server.shown.length, 0)
    const tested = await control.call(tenant.adminKey, 'POST', `/mcp-servers/${slug}/test`)
    t.like(tested.body, { success: false })
    t.false(tested.text.includes(secret))
  })

test.serial('an authorization server that does not answer is not waited for without end', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  issuer.answers.set('/token', (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{'))
  const { messages, text } = await echo(slug)
  t.is(messages[0]?.error?.data?.['code'], 'credential_failed', text)
  t.is(server.shown.length, 0)
})

test.serial('a sync and a test ask with the token', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  t.like((await control.call(tenant.adminKey, 'POST', `/mcp-servers/${slug}/test`)).body, { success: true, server_name: 'stub' })
  t.like((await control.call(tenant.adminKey, 'POST', `/mcp-integrations/${slug}/sync`)).body, { sync_status: 'synced', added: ['echo'] })
})

test.serial('tokens are forgotten with the settings that they were given for, and with the integration', async (t) => {
  const server = await guarded(t)
  const slug = await store(server)
  await echo(slug)
  const before = asked()
  await must({ control, tenant }, 'PUT', `/mcp-integrations/${slug}`, { configurations: { oauth: { ...oauth(), scopes: ['b'] } } })
  await control.refresh()
  await echo(slug)
  t.is(asked() - before, 1)
  const rows = async () =>
    (
      await control.sql.query('SELECT id FROM mcp_grants g WHERE g.integration_id = (SELECT id FROM mcp_integrations WHERE slug = $1)', [
        slug,
      ])
    ).rowCount
  t.is(await rows(), 1)
  await must({ control, tenant }, 'DELETE', `/mcp-servers/${slug}`)
  await must({ control, tenant }, 'DELETE', `/mcp-integrations/${slug}`)
  t.is(await rows(), 0)
})
