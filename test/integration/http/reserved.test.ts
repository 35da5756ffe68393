import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { readOwnTable } from '../../../src/app/level/release-records.ts'
import { reservations } from '../../../src/app/level/reserved.ts'
import { formatOperations } from '../../../src/app/openapi/format-paths.ts'
import { features } from '../../../src/features/index.ts'
import { modelOperations, operations } from '../../../src/gateway/operations/operations.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson, type RawAnswer } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from '../features/setup.ts'

const corpus = path.resolve(import.meta.dirname, '../../corpus/control-plane-paths.txt')
/** The paths of other control planes of this API, and of the specification: `METHOD /path/{parameter}`. */
const known = readFileSync(corpus, 'utf8').trim().split('\n')

const canary = 'hvs.canary-of-a-vault-token'
const shape = (route: string) => (route.split('?', 1)[0] ?? '').replaceAll(/\{[\w-]+\}|:\w+/g, '{}')
const served = new Set(
  features.flatMap(({ routes, protocols = [] }) => [
    ...routes.map((route) => shape(route.path)),
    ...protocols.flatMap((protocol) => protocol.routes.map((route) => shape(`/scim${route.path}`))),
  ]),
)

let control: Control
let emulator: Emulator
let acme: Tenant
let boundKey = ''

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const make = async (key: string, where: string, body: unknown) => {
    const { status, text, body: answer } = await control.call(key, 'POST', where, body)
    if (status !== 200) throw new Error(text)
    return answer
  }
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  await make(acme.adminKey, '/integrations', { ...account, default_provider_slug: 'p' })
  await make(acme.workspaceKey, '/configs', { name: 'c', slug: 'to-provider', config: { provider: '@p' } })
  const key = await make(acme.adminKey, '/api-keys/workspace/service', {
    name: 'with a default config',
    scopes: ['completions.write', 'logs.list'],
    workspace_id: acme.workspaceId,
    defaults: { config_id: 'to-provider' },
  })
  boundKey = String(key['key'])
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

/** Every way to name a provider at once. */
const naming: Readonly<Record<string, string>> = {
  'x-service-provider': '@p',
  'x-portkey-virtual-key': 'p',
  'x-service-config': 'to-provider',
  'anthropic-version': '2023-06-01',
}

function ask(operation: string, headers: Readonly<Record<string, string>>): Promise<RawAnswer> {
  const [method = '', url = ''] = operation.split(' ')
  const target = `${control.origin}/v1${url.replaceAll(/\{[\w-]+\}/g, '7')}`
  const withKey = { 'x-service-api-key': boundKey, ...headers }
  return method === 'GET' ? send(target, { headers: withKey }) : sendAs(method, target, withKey)
}

const sendAs = (method: string, url: string, headers: Readonly<Record<string, string>>) =>
  send(url, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ token: canary, model: '@p/m' }) })

/** In the form of a slip or a lenient server; it is neither a path of ours, nor one for a provider. */
const spellings = [
  ...['//', '/%2f', '/%5C', '/%252f', '/v1/', '/V1/', '/v1//v1/', '/;a=b/', '/%3b/', '/%253Bx/'].map(
    (before) => `${before}secret-references`,
  ),
  '/%73ecret-references',
  '/%2573ecret-references',
  '/secret%2dreferences',
  '/SECRET-References',
  ...[';a=b', '%3ba', '%20', '%09', '%00', '.', '.json', '%2Ejson', ':test', ',x', "'", '%23', '%E2%80%8B', '|', '%2f'].map(
    (behind) => `/secret-references${behind}`,
  ),
]
const spelt = spellings.flatMap((url) => [`POST ${url}`, `POST ${url}/7`, `POST ${url}?x=1`])

test.serial('no path of the control plane reaches a provider or the log, whatever names one', async (t) => {
  t.true(known.length > 190)
  for (const operation of [...known, ...spelt])
    for (const headers of [{}, naming]) {
      const { status, text } = await ask(operation, headers)
      t.true(status >= 400 || served.has(shape(operation.split(' ')[1] ?? '')), `${operation}: ${status} ${text}`)
    }
  t.deepEqual(
    emulator.requests.map(({ method, url }) => `${method} ${url}`),
    [],
  )
  const chat = await sendJson(`${control.origin}/v1/chat/completions`, { 'x-service-api-key': boundKey }, { model: 'm', messages: [] })
  t.is(chat.status, 200, chat.text)
  const id = String(chat.headers['x-request-id'])
  const logged = async () => (await control.sql.query<{ id: string }>('SELECT id FROM logs')).rows
  await eventually(async () => (await logged()).length > 0, 20_000, 'the log of the chat')
  t.deepEqual(await logged(), [{ id }])
})

const unserved = known.filter((operation) => !served.has(shape(operation.split(/[ ?]/)[1] ?? '')) && !operation.includes('whatever'))

test.serial('what is not built answers 404 feature_unavailable, with the release that brings it', async (t) => {
  const releases = new Map<string, string | null>()
  for (const operation of unserved) {
    const { status, text } = await ask(operation, naming)
    const { error } = JSON.parse(text) as { error: { code: string; feature: { release: string | null }; message: string } }
    t.is(status, 404, `${operation}: ${text}`)
    t.is(error.code, 'feature_unavailable', operation)
    t.regex(
      error.message,
      /^(?:There is no path below \/v1(\/auth|\/oauth\/\w+)\. Its paths begin with \1,|(?:[A-Z]+ )?\/(?:v1\/)?[\w/:{}-]+ (?:is announced for release \d|is a path of the control plane that no release has))/,
    )
    releases.set(operation, error.feature.release)
  }
  for (const [operation, release] of Object.entries(expected)) t.is(releases.get(operation), release, operation)
})

const expected: Readonly<Record<string, string | null>> = {
  'PUT /deployments/{deploymentId}': '1.4.0',
  'POST /agent-integrations': null,
}

const passing = [
  ['POST', '/rerank'],
  ['POST', '/deployments/gpt-4o/chat/completions'],
  ['POST', '/assistants'],
  ['GET', '/vector_stores?limit=2'],
  ['POST', '/prompt-caches'],
  ['POST', '/logs_of_mine'],
] as const

test.serial('a path that only a provider has is passed on as before', async (t) => {
  for (const [method, url] of passing) {
    const received = emulator.next(url.split('?', 1)[0])
    await ask(`${method} ${url}`, { 'x-service-provider': '@p' })
    t.is((await received).method, method, url)
  }
})

test('every path that a release brings has a reservation of its own', (t) => {
  const segments = new Set(reservations.flatMap(({ paths }) => paths.map((one) => one.split('/')[1])))
  const data = new Set([...Object.values({ ...operations, ...modelOperations }), ...formatOperations].map((one) => one.path.split('/')[1]))
  const routed = features.flatMap(({ routes }) => routes.map((one) => one.path))
  const announced = readOwnTable().releases.flatMap(({ api }) => api.added.map((one) => one.split(' ')[1] ?? ''))
  const named = [...routed, ...announced].map((one) => one.split('/')[1]).filter((segment) => !data.has(segment))
  t.deepEqual(
    named.filter((segment) => !segments.has(segment) && segment !== '{provider_endpoint}'),
    [],
  )
})

/** A path that neither plane has, and the one that was meant. */
const misspelt = {
  '/v1/prompt': '/v1/prompts',
  '/v1/integration': '/v1/integrations',
  '/v1/integrations/p/tset': '/v1/integrations/p/test',
  '/v1/apikeys': '/v1/api-keys',
  '/v1/chat/completion': '/v1/chat/completions',
  '/v1/catalogue/provider': '/v1/catalogue/providers',
} as const

/** Returns the message for a chat at a path. */
async function messageAt(url: string): Promise<string> {
  const { text } = await control.call(acme.workspaceKey, 'POST', url.slice('/v1'.length), { model: 'm' })
  return (JSON.parse(text) as { readonly error: { readonly message: string } }).error.message
}

test('a path that is nearly one of either plane is answered with the one that was meant, and other paths are not', async (t) => {
  for (const [url, meant] of Object.entries(misspelt)) t.true((await messageAt(url)).endsWith(` Did you mean ${meant}?`), url)
  for (const url of ['/v1/x', '/v1/integrations/p/nothing-of-the-kind', '/v1/their-own/path'])
    t.notRegex(await messageAt(url), /Did you mean/)
})

/** The kinds of rows that are named by slug: where one is made, and where it is asked for. */
const named = {
  provider: { make: '/providers', ask: '/providers', more: { integration_id: 'p' } },
  integration: { make: '/integrations', ask: '/integrations', more: { ai_provider_id: 'openai', key: 'sk-stored' } },
  config: { make: '/configs', ask: '/configs', more: { config: { provider: 'openai' } } },
  prompt: { make: '/prompts', ask: '/prompts', more: { string: 'hi', parameters: {}, virtual_key: 'p' } },
  partial: { make: '/prompts/partials', ask: '/prompts/partials', more: { string: 'hi' } },
  guardrail: {
    make: '/guardrails',
    ask: '/guardrails',
    more: { checks: [{ id: 'default.contains', parameters: { words: ['x'] } }], actions: { onFail: 'block' } },
  },
  workspace: { make: '/admin/workspaces', ask: '/admin/workspaces', more: {} },
} as const

for (const [kind, { make, ask: place, more }] of Object.entries(named))
  test(`a misspelt ${kind} is answered with the one that was meant, of those that the caller sees`, async (t) => {
    const name = `near-${kind}-name`
    const folder = await control.call(acme.workspaceKey, 'POST', '/collections', { name: `of-${kind}` })
    const inside = kind === 'prompt' && { collection_id: folder.body['id'] }
    const { status, text, body } = await control.call(callerOf(kind, acme), 'POST', make, {
      name,
      ...inside,
      ...(isSlugged(kind) && { slug: name }),
      ...more,
    })
    t.is(status, 200, text)
    const slug = String(body['slug'])
    const wrong = `${slug.slice(0, -1)}#`.replace('#', slug.endsWith('x') ? 'y' : 'x')
    const other = await control.createTenant(`other-than-${kind}`)
    const said = async (tenant: Tenant) => (await control.call(callerOf(kind, tenant), 'GET', `${place}/${wrong}`)).text
    t.true((await said(acme)).includes(`Did you mean \\"${slug}\\"?`), await said(acme))
    t.notRegex(await said(other), /Did you mean/)
    if (kind === 'workspace' || kind === 'integration') return
    const aside = (await control.call(acme.sideKey, 'GET', `${place}/${wrong}`)).text
    t.notRegex(aside, /Did you mean/, 'another workspace of the same organisation')
  })

const isSlugged = (kind: string): boolean => kind !== 'prompt' && kind !== 'partial'

const callerOf = (kind: string, { adminKey, workspaceKey }: Tenant): string =>
  kind === 'workspace' || kind === 'integration' ? adminKey : workspaceKey

test('a misspelt provider of a request is answered with the one of the workspace that was meant', async (t) => {
  const account = { name: 'spelt', slug: 'spelt-provider', ai_provider_id: 'openai', key: 'sk-stored' }
  t.is((await control.call(acme.adminKey, 'POST', '/integrations', { ...account, workspace_id: acme.workspaceId })).status, 200)
  const chat = (key: string) => control.call(key, 'POST', '/chat/completions', { model: '@spelt-provder/gpt-4o', messages: [] })
  const said = await chat(acme.workspaceKey)
  t.regex(said.text, /Did you mean \\"@spelt-provider\\"\?/)
  t.like(said.body['error'], { code: 'unknown_provider', param: 'model' })
  t.notRegex((await chat(acme.sideKey)).text, /Did you mean/)
})
