import test from 'ava'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { type PartnerServer, startPartnerServer } from '../../support/partners/partner-server.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let partners: PartnerServer
let acme: Tenant
let other: Tenant

test.before(async () => {
  ;[control, emulator, partners] = await Promise.all([startControl(), startEmulator(), startPartnerServer()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
})
test.after.always(async () => {
  partners?.close()
  await Promise.all([control?.close(), emulator?.stop()])
})

type Body = Readonly<Record<string, unknown>>

const scanner = (key: string) => ({ plugin: 'zscaler', credentials: { zscalerApiKey: key } })
/** The body of the specification. */
const scan = { id: 'zscaler.zscalerprotect', parameters: { policyId: '42', timeout: 9000 } }

async function made(tenant: Tenant, path: string, body: Body): Promise<string> {
  const answer = await control.call(tenant.adminKey, 'POST', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return String(answer.body['slug'] ?? answer.body['id'])
}

const messageOf = ({ body }: { readonly body: Body }) => String((body['error'] as Body | undefined)?.['message'])

/** A chat in a workspace whose requests must pass a guardrail. */
async function chat(key: string, guardrail: string): Promise<{ readonly status: number; readonly text: string }> {
  await control.refresh()
  const response = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'x-service-config': JSON.stringify({ input_guardrails: [guardrail] }),
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  })
  return { status: response.status, text: await response.text() }
}

test.serial(
  'the scanner of the specification asks with the credentials of the workspace, else with those of the organisation',
  async (t) => {
    partners.answer('all', { body: { action: 'ALLOW' } })
    partners.answer('side', { body: { action: 'BLOCK' } })
    const guardrail = await made(acme, '/guardrails', { name: 'scan', checks: [scan], actions: { onFail: 'block' } })

    const without = await chat(acme.workspaceKey, guardrail)
    t.is(without.status, 446, without.text)
    t.regex(without.text, /There are no credentials for Zscaler AI Guard\. Store those of \\"zscaler\\" with POST \/v1\/plugins/)

    const ofAll = await made(acme, '/plugins', { ...scanner('key-of-all'), base_url: partners.url('all') })
    t.is((await chat(acme.workspaceKey, guardrail)).status, 200)
    t.is((await chat(acme.sideKey, guardrail)).status, 200)
    t.like(partners.calls('all').at(-1), { path: '/v1/detection/execute-policy', body: { policyId: '42', direction: 'IN' } })
    t.is(partners.calls('all').at(-1)?.headers.authorization, 'Bearer key-of-all')

    const ofSide = await made(acme, '/plugins', { ...scanner('key-of-side'), base_url: partners.url('side'), workspace_id: 'side' })
    t.is((await chat(acme.sideKey, guardrail)).status, 446)
    t.is(partners.calls('side').at(-1)?.headers.authorization, 'Bearer key-of-side')
    t.is((await chat(acme.workspaceKey, guardrail)).status, 200)

    const tried = (key: string) =>
      control.call(key, 'POST', '/guardrails/test', { checks: [scan], actions: { onFail: 'block' }, text: 'hello' })
    t.like((await tried(acme.workspaceKey)).body, { verdict: true })
    t.like((await tried(acme.sideKey)).body, { verdict: false, denied: true })

    const changed = await control.call(acme.adminKey, 'PUT', '/plugins/zscaler', { credentials: { zscalerApiKey: 'another' } })
    t.is(changed.status, 200, changed.text)
    t.is((await chat(acme.workspaceKey, guardrail)).status, 200)
    t.is(partners.calls('all').at(-1)?.headers.authorization, 'Bearer another')

    const kept = await control.call(acme.adminKey, 'DELETE', `/plugins/${ofAll}`)
    t.is(kept.status, 409)
    t.regex(messageOf(kept), /These still depend on this plugin: guardrail "scan"/)
    const { body: read } = await control.call(acme.adminKey, 'GET', '/plugins/zscaler?include_used_by=true')
    t.like(read, { used_by: [{ kind: 'guardrail', slug: guardrail }] })
    t.is((await control.call(acme.adminKey, 'DELETE', `/plugins/${ofSide}`)).status, 200, 'those of the organisation serve in its place')
    t.is((await chat(acme.sideKey, guardrail)).status, 200)

    await control.call(acme.adminKey, 'DELETE', `/guardrails/${guardrail}`)
    t.is((await control.call(acme.adminKey, 'DELETE', '/plugins/zscaler')).status, 200)
    t.is((await control.call(acme.adminKey, 'GET', '/plugins/zscaler')).status, 404)
  },
)

test.serial('credentials of the check itself go before stored ones', async (t) => {
  partners.answer('stored', { body: { action: 'BLOCK' } })
  partners.answer('own', { body: { action: 'ALLOW' } })
  await made(other, '/plugins', { ...scanner('stored'), base_url: partners.url('stored') })
  const parameters = { policyId: '1', baseUrl: partners.url('own'), credentials: { zscalerApiKey: 'own' } }
  const guardrail = await made(other, '/guardrails', {
    name: 'own',
    checks: [{ id: scan.id, parameters }],
    actions: { onFail: 'block' },
  })
  t.is((await chat(other.workspaceKey, guardrail)).status, 200)
  t.is(partners.calls('own').at(-1)?.headers.authorization, 'Bearer own')
  t.deepEqual(partners.calls('stored'), [])
  t.is((await control.call(other.adminKey, 'DELETE', '/plugins/zscaler')).status, 200, 'nothing depends on it')
})

test.serial('a config whose checks use stored credentials keeps them from being deleted', async (t) => {
  const id = await made(acme, '/plugins', { plugin: 'mistral', credentials: { apiKey: 'k' } })
  const config = await made(acme, '/configs', {
    name: 'moderated',
    workspace_id: 'main',
    config: { provider: 'openai', input_guardrails: [{ 'mistral.moderateContent': { categories: ['pii'] }, deny: true }] },
  })
  t.regex(messageOf(await control.call(acme.adminKey, 'DELETE', `/plugins/${id}`)), /config "moderated"/)
  await control.call(acme.adminKey, 'DELETE', `/configs/${config}`)
  t.is((await control.call(acme.adminKey, 'DELETE', `/plugins/${id}`)).status, 200)
})

test.serial('secrets are sealed, masked in every answer and in the audit trail, and only go where they were stored for', async (t) => {
  const credentials = { apiKey: 'canary-3f1c', domain: 'aws.us.pangea.cloud' }
  const id = await made(acme, '/plugins', { plugin: 'pangea', credentials })
  const { body } = await control.call(acme.adminKey, 'GET', `/plugins/${id}`)
  t.like(body, { plugin: 'pangea', workspace_id: null, credentials: { apiKey: '********', domain: 'aws.us.pangea.cloud' } })
  const put = (change: Body) => control.call(acme.adminKey, 'PUT', `/plugins/${id}`, change)
  t.is((await put({ credentials: body['credentials'], name: 'renamed' })).status, 200)
  for (const moved of [
    { credentials: { apiKey: '********', domain: 'evil.example.com' } },
    { credentials: { apiKey: '********', domain: 'aws.us.pangea.cloud' }, base_url: 'https://evil.example.com' },
    { base_url: 'https://evil.example.com' },
  ]) {
    const answer = await put(moved)
    t.is(answer.status, 400, answer.text)
    t.regex(messageOf(answer), /credentials\.apiKey would go elsewhere than before/)
  }
  t.is((await put({ credentials: { apiKey: 'new', domain: 'aws.eu.pangea.cloud' }, base_url: null })).status, 200)
  const { text: trail } = await control.call(acme.adminKey, 'GET', '/audit-logs?page_size=100')
  t.regex(trail, /plugin/)
  t.notRegex(trail + (await control.dump()), /canary-3f1c/)
  await control.call(acme.adminKey, 'DELETE', `/plugins/${id}`)
  const { rows } = await control.sql.query<{ credentials: Buffer | null }>('SELECT credentials FROM plugins WHERE id = $1', [id])
  t.is(rows[0]?.credentials, null)
})

const wrong: readonly (readonly [what: string, body: Body, message: RegExp])[] = [
  ['a partner that there is not', { plugin: 'promptfoo', credentials: {} }, /There is no plugin "promptfoo"\. There are acuvity, /],
  ['no credentials', { plugin: 'zscaler', credentials: {} }, /credentials\.zscalerApiKey/],
  ['none of several', { plugin: 'azure', credentials: {} }, /needs contentSafety or pii/],
  [
    'a field that there is not',
    { plugin: 'zscaler', credentials: { zscalerApiKey: 'k', key: 'k' } },
    /credentials\.key is no credential of "zscaler"/,
  ],
  ['a mask', scanner('********'), /holds only the mask/],
  ['the own network', { ...scanner('k'), base_url: 'http://10.0.0.1/' }, /10\.0\.0\.1/],
  [
    'the own network among the credentials',
    { plugin: 'lasso', credentials: { apiKey: 'k', apiEndpoint: 'http://169.254.169.254' } },
    /169\.254/,
  ],
  ['another workspace', { ...scanner('k'), workspace_id: 'nowhere' }, /nowhere/],
]

for (const [what, body, message] of wrong)
  test(`refused: ${what}`, async (t) => {
    const answer = await control.call(acme.adminKey, 'POST', '/plugins', body)
    t.true(answer.status === 400 || answer.status === 404, answer.text)
    t.regex(messageOf(answer), message)
  })

test('a filter that no text of the database can be is a fault of the request', async (t) => {
  const answer = await control.call(acme.adminKey, 'GET', '/plugins?plugin=%00')
  t.is(answer.status, 400, answer.text)
  t.regex(messageOf(answer), /plugin/)
})

test('twice for one place is refused, and other organisations see nothing', async (t) => {
  const body = { plugin: 'sydelabs', credentials: { apiKey: 'k' } }
  const id = await made(acme, '/plugins', body)
  t.is((await control.call(acme.adminKey, 'POST', '/plugins', body)).status, 409)
  await made(acme, '/plugins', { ...body, workspace_id: 'main' })
  await made(other, '/plugins', body)
  t.is((await control.call(other.adminKey, 'GET', `/plugins/${id}`)).status, 404)
  t.is((await control.call(other.adminKey, 'DELETE', `/plugins/${id}`)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'GET', '/plugins')).status, 403)
})

test("an address of one's own needs credentials of one's own: stored ones stay where they are", async (t) => {
  const body = {
    name: 'thief',
    checks: [{ ...scan, parameters: { policyId: '1', baseUrl: 'https://evil.example.com' } }],
    actions: { onFail: 'log' },
  }
  const answer = await control.call(acme.workspaceKey, 'POST', '/guardrails', body)
  t.is(answer.status, 400)
  t.regex(messageOf(answer), /Another address needs credentials of its own/)
  t.is((answer.body['error'] as Body)['param'], 'checks[0].parameters.baseUrl')
})
