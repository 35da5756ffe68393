// A person lets programs in by the rules for keys of their own, and a link to the address where programs ask leads nowhere else.
import test from 'ava'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { type ProgramHost, startProgramHost } from '../../support/mcp/program-host.ts'
import { ask } from '../../support/mcp/raw-client.ts'
import { askingAddress, issuer, letIn, openBrowser, redeem, requestIn } from '../../support/mcp/sign-in-flow.ts'
import { addPerson, type Browser, signIn, type TestPerson } from '../../support/people.ts'
import { logsOf, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let reference: LegacyReference
let programs: ProgramHost
let person: TestPerson
let signedIn: Browser
let clientId: string
const servers = { tickets: '' }

test.before(async () => {
  ;[reference, programs] = await Promise.all([startLegacyServer(), startProgramHost()])
  control = await startControl({}, { PUBLIC_URL: issuer, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' })
  acme = await control.createTenant('acme')
  await storeServer({ control, tenant: acme }, 'tickets', reference.url)
  servers.tickets = String((await must({ control, tenant: acme }, 'GET', '/mcp-servers/tickets'))['id'])
  await setUp(acme.organisationId, { membersManageApiKeys: true })
  person = await addPerson(control.started, { organisationId: acme.organisationId })
  await control.sql.query(
    `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`,
    [acme.organisationId, acme.workspaceId, person.id],
  )
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

const browserOfPerson = () => openBrowser(control.origin, signedIn)
const call = (token: string) =>
  ask(
    `${control.origin}/tickets/mcp`,
    'tools/call',
    { name: 'echo', arguments: { text: 'as the person' } },
    { headers: { authorization: `Bearer ${token}` } },
  )

async function tokensOf(): Promise<{ readonly access: string }> {
  const answered = await letIn({ browser: browserOfPerson(), clientId, serverId: servers.tickets })
  const { body, status } = await redeem(control.origin, clientId, answered.searchParams.get('code') ?? '')
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { access: body['access_token'] ?? '' }
}

const withoutKeys: readonly [what: string, settings: Readonly<Record<string, unknown>>, before: Readonly<Record<string, unknown>>][] = [
  ['may make no keys', { membersManageApiKeys: false }, { membersManageApiKeys: true }],
  ['would need metadata for a key', { api_key_metadata_keys: ['team'] }, { api_key_metadata_keys: null }],
  ['finds that there may be no keys', { max_user_api_keys: 0 }, { max_user_api_keys: null }],
]

for (const [what, settings, before] of withoutKeys)
  test.serial(`a person who ${what} lets no program in, and one that was let in before is refused`, async (t) => {
    const { access } = await tokensOf()
    const browser = browserOfPerson()
    const id = requestIn(await browser.get(askingAddress(clientId)))
    await setUp(acme.organisationId, settings)
    await control.refresh()
    const refused = await call(access)
    t.is(refused.status, 403, refused.text)
    t.regex(refused.text, /may make no API keys/)
    const decided = await browser.post(`/oauth/requests/${id}`, { decision: 'allow', mcp_server_id: servers.tickets })
    t.is(decided.status, 403, decided.text)
    const again = await browserOfPerson().get(askingAddress(clientId))
    t.is(again.status, 403, again.text)
    t.regex(again.text, /may make no API keys/)
    await setUp(acme.organisationId, before)
    await control.refresh()
    t.is((await call(access)).status, 200)
  })

test.serial('metadata that the organisation demands of keys may be that of the workspace', async (t) => {
  await setUp(acme.organisationId, { api_key_metadata_keys: ['team'] })
  await control.sql.query(`UPDATE workspaces SET defaults = '{"metadata":{"team":"red"}}' WHERE id = $1`, [acme.workspaceId])
  await control.refresh()
  t.is((await call((await tokensOf()).access)).status, 200)
  await setUp(acme.organisationId, { api_key_metadata_keys: null })
})

test.serial('all that a person lets in at a server counts as one key', async (t) => {
  for (const { access } of [await tokensOf(), await tokensOf()]) t.is((await call(access)).status, 200)
  const rows = (await logsOf({ control, tenant: acme }, 'tickets', 2)).filter((row) => row['user_id'] === person.id)
  t.true(rows.length >= 2)
  t.is(new Set(rows.map((row) => row['api_key_id'])).size, 1)
})

async function daysOfSignIn(): Promise<number | undefined> {
  await tokensOf()
  const { rows } = await control.sql.query<{ days: number }>(
    'SELECT round(extract(epoch FROM expires_at - created_at) / 86400)::int AS days FROM mcp_sign_ins WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
    [person.id],
  )
  return rows[0]?.days
}

test.serial('a sign-in lasts no longer than a key of the person may', async (t) => {
  t.is(await daysOfSignIn(), 30)
  await setUp(acme.organisationId, { user_api_key_max_ttl: 3 })
  t.is(await daysOfSignIn(), 3)
  await setUp(acme.organisationId, { user_api_key_max_ttl: null })
})

for (const last of ['http:evil.example', 'javascript:alert(1)', 'a.example', 'a/b', '%2f%2fevil.example'])
  test.serial(`a link to ${last} below the address of requests leads nowhere`, async (t) => {
    const address = askingAddress(clientId).replace('?', `/${last}?`)
    const answer = await browserOfPerson().get(address, { 'sec-fetch-site': 'cross-site' })
    t.is(answer.status, 404, answer.text)
    t.is(answer.headers.location, undefined)
    t.false(answer.text.includes('http-equiv'))
  })
