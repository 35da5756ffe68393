import test from 'ava'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

type Fields = Readonly<Record<string, unknown>>

interface Dependant {
  readonly kind: string
  readonly slug: string | null
  readonly name: string
  readonly workspace: string | null
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  for (const [path, body] of setUp()) await made(path, body)
})
test.after.always(() => control.close())

const words = { checks: [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 5 } }], actions: { onFail: 'block' } }

/** Made in this order; each depends on some before it. */
const setUp = (): readonly (readonly [path: string, body: Fields])[] => [
  ['/integrations', { name: 'Open', slug: 'open', ai_provider_id: 'openai', key: 'sk-0123456789', create_default_provider: false }],
  ['/providers', { name: 'Prov', slug: 'prov', integration_id: 'open', workspace_id: 'main' }],
  ['/virtual-keys', { name: 'vk', provider: 'openai', key: 'sk-0123456789', workspace_id: 'main' }],
  ['/guardrails', { name: 'Words', slug: 'words', workspace_id: 'main', ...words }],
  ['/configs', { name: 'Conf', slug: 'conf', workspace_id: 'main', config: { provider: '@prov', input_guardrails: ['words'] } }],
  ['/api-keys/workspace/service', { name: 'Key', workspace_id: 'main', scopes: ['logs.list'], defaults: { config_id: 'conf' } }],
  ['/collections', { name: 'Folder', workspace_id: 'main' }],
  ['/labels', { name: 'tested', workspace_id: 'main' }],
  ['/prompts/partials', { name: 'Part', string: 'x', workspace_id: 'main', collection_id: 'folder' }],
]

async function made(path: string, body: Fields): Promise<Fields> {
  const answer = await control.call(acme.adminKey, 'POST', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

const usedBy = (answer: Answer): readonly Dependant[] | undefined => {
  const { error, data } = answer.body as { error?: Fields; data?: Fields }
  return (error ?? data ?? answer.body)['used_by'] as readonly Dependant[] | undefined
}

test('what others depend on is told by name, on refusals and on reads that ask for it', async (t) => {
  const [folder] = ((await control.call(acme.adminKey, 'GET', '/collections?workspace_id=main&search=Folder')).body['data'] ??
    []) as Fields[]
  const partial = await control.call(acme.adminKey, 'GET', '/prompts/partials/pp-part')
  const partialSlug = partial.status === 200 ? 'pp-part' : String((await listed('/prompts/partials?workspace_id=main'))[0]?.['slug'])
  const label = String((await listed('/labels?workspace_id=main&search=tested'))[0]?.['id'])
  const prompt = await made('/prompts', {
    name: 'Prompt',
    collection_id: String(folder?.['id']),
    string: `{{>${partialSlug}}}`,
    parameters: {},
    virtual_key: 'vk',
  })
  const version = `/prompts/${String(prompt['slug'])}/versions/1`
  t.is((await control.call(acme.adminKey, 'PUT', version, { label_id: label })).status, 200)
  const promptSlug = String(prompt['slug'])
  for (const [path, kind, slug] of [
    ['/integrations/open', 'provider', 'prov'],
    ['/providers/prov', 'config', 'conf'],
    ['/virtual-keys/vk', 'prompt', promptSlug],
    ['/guardrails/words', 'config', 'conf'],
    ['/configs/conf', 'api_key', null],
    ['/collections/folder', 'prompt', promptSlug],
    [`/labels/${label}`, 'prompt', `${promptSlug}@1`],
    [`/prompts/partials/${partialSlug}`, 'prompt', promptSlug],
  ] as const) {
    const refused = await control.call(acme.adminKey, 'DELETE', path)
    t.is(refused.status, 409, `${path}: ${refused.text}`)
    const found = usedBy(refused)?.find((dependant) => dependant.kind === kind)
    t.like(found, { kind, slug, workspace: 'main' }, `${path}: ${refused.text}`)
    t.is(typeof found?.name, 'string')
    t.deepEqual(usedBy(await control.call(acme.adminKey, 'GET', `${path}?include_used_by=true`)), usedBy(refused), path)
    t.is(usedBy(await control.call(acme.adminKey, 'GET', path)), undefined, path)
  }
})

const listed = async (path: string) => (await control.call(acme.adminKey, 'GET', path)).body['data'] as readonly Fields[]

test('a workspace that is not empty lists what is in it', async (t) => {
  await made('/admin/workspaces', { name: 'Third', slug: 'third' })
  await made('/configs', { name: 'Inside', slug: 'inside', workspace_id: 'third', config: { provider: 'openai' } })
  const refused = await control.call(acme.adminKey, 'DELETE', '/admin/workspaces/third')
  t.is(refused.status, 409)
  t.like(usedBy(refused)?.[0], { kind: 'config', slug: 'inside', name: 'Inside', workspace: 'third' })
})

const sharedUsers = async (key: string) =>
  usedBy(await control.call(key, 'GET', '/integrations/shared?include_used_by=true'))?.map(({ slug }) => slug)

test('a workspace sees only its own among what depends on things of the organisation', async (t) => {
  await made('/admin/workspaces', { name: 'Fourth', slug: 'fourth' })
  await made('/integrations', {
    name: 'Shared',
    slug: 'shared',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
    create_default_provider: false,
  })
  for (const workspace_id of ['main', 'fourth'])
    await made('/providers', { name: 'p', slug: `uses-${workspace_id}`, integration_id: 'shared', workspace_id })
  t.deepEqual((await sharedUsers(acme.adminKey))?.toSorted(), ['uses-fourth', 'uses-main'])
  t.deepEqual(await sharedUsers(acme.workspaceKey), ['uses-main'])
})

test('every fault of a request is listed, the message names the first of many', async (t) => {
  const body = { name: 5, scopes: [], usage_limits: { credit_limit: -1, type: 'gold' }, extra: true, expires_at: 'soon' }
  const { body: answer } = await control.call(acme.adminKey, 'POST', '/api-keys/organisation/service', body)
  const { issues, param } = answer['error'] as { issues: { param: string; code: string; message: string }[]; param: string }
  t.is(issues[0]?.param, param)
  t.deepEqual(
    issues.map((issue) => [issue.param, issue.code]),
    [
      ['name', 'invalid_type'],
      ['scopes', 'too_small'],
      ['usage_limits.type', 'invalid_value'],
      ['usage_limits.credit_limit', 'too_small'],
      ['expires_at', 'invalid_format'],
      ['extra', 'unknown_field'],
    ],
  )
  t.is(issues[0]?.message, 'expected a string (got 5)')
  const { body: none } = await control.call(acme.adminKey, 'POST', '/labels', {})
  t.deepEqual((none['error'] as Fields)['issues'], [{ param: 'name', code: 'missing', message: 'expected a string (missing)' }])

  const models = Array.from({ length: 150 }, () => ({ slug: '' }))
  const { body: many } = await control.call(acme.adminKey, 'PUT', '/integrations/open/models', { models })
  const told = many['error'] as { issues: unknown[]; message: string }
  t.true(told.issues.length >= 100)
  t.regex(told.message, /; and \d+ more\.$/)
  t.true(told.message.length < 4000)
})

test("owners and admins of the organisation list archived workspaces with their own keys, others don't", async (t) => {
  await made('/admin/workspaces', { name: 'Gone', slug: 'gone' })
  t.is((await control.call(acme.adminKey, 'DELETE', '/admin/workspaces/gone')).status, 200)
  for (const [role, allowed] of [
    ['owner', true],
    ['admin', true],
    ['member', false],
  ] as const) {
    const workspaces = { [acme.workspaceId]: 'admin' } as const
    const userId = await control.createUser(acme, { email: `${role}@example.com`, role, workspaces })
    const key = await control.createKey(acme, { workspaceId: acme.workspaceId, userId, scopes: ['workspaces.list'] })
    await control.refresh()
    const slugs = async (status: string) => {
      const answer = await control.call(key, 'GET', `/workspaces?status=${status}&page_size=100`)
      return answer.status === 200 ? (answer.body['data'] as Fields[]).map(({ slug }) => slug) : answer.status
    }
    t.deepEqual(await slugs('active'), ['main'], role)
    const archived = await slugs('archived')
    if (allowed) t.true(Array.isArray(archived) && archived.includes('gone') && !archived.includes('main'), role)
    else t.is(archived, 403)
    if (allowed) t.true(((await slugs('active,archived')) as unknown[]).includes('main'))
  }
})

const bedrock = { name: 'b', ai_provider_id: 'bedrock', configurations: { aws_auth_type: 'x', aws_region: 5, more: 1 } }
const azure = { name: 'a', ai_provider_id: 'azure-openai', configurations: { azure_auth_mode: 'default' } }
const many = JSON.stringify({ provider: 'openai', retry: { attempts: 9 }, cache: { mode: 'x' }, more: 1 })

interface Issue {
  readonly param: string
  readonly code: string
}

/** Requests with several faults, by the headers that they need besides. */
const faulty: readonly (readonly [path: string, body: Fields, issues: readonly string[], headers?: Readonly<Record<string, string>>])[] = [
  [
    '/integrations',
    bedrock,
    ['configurations.aws_auth_type invalid_value', 'configurations.aws_region invalid_type', 'configurations.more unknown_field'],
  ],
  ['/integrations', azure, ['configurations.azure_resource_name missing', 'configurations.azure_deployment_config missing']],
  [
    '/plugins',
    { plugin: 'zscaler', credentials: { zscalerApiKey: 5, more: 1 } },
    ['credentials.zscalerApiKey invalid_type', 'credentials.more unknown_field'],
  ],
  [
    '/completions',
    { model: 'm', n: 0, logit_bias: { 50256: 200 }, stop: ['a', 'b', 'c', 'd', 'e'] },
    ['prompt missing', 'logit_bias.50256 too_big', 'n too_small', 'stop too_big'],
    { 'x-service-provider': '@prov' },
  ],
  [
    '/chat/completions',
    {},
    ['config.retry.attempts too_big', 'config.cache.mode invalid_value', 'config.more unknown_field'],
    { 'x-service-config': many },
  ],
  // Dependants that are found one at a time are listed alike.
  ['/chat/completions', { model: 'm' }, ['x-service-provider invalid']],
  ['/integrations', { name: 'n', ai_provider_id: 'nobody' }, ['ai_provider_id invalid']],
]

for (const [path, body, expected, headers = {}] of faulty)
  test(`all faults are listed: ${path} ${expected.join(', ')}`, async (t) => {
    const data = path.endsWith('completions')
    const response = await fetch(`${control.origin}/v1${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': data ? acme.workspaceKey : acme.adminKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const { error } = JSON.parse(await response.text()) as { error: { message: string; param: string; issues: readonly Issue[] } }
    t.is(response.status, 400)
    t.deepEqual(error.issues.map(({ param, code }) => `${param} ${code}`).toSorted(), expected.toSorted(), error.message)
    for (const { param } of error.issues) t.true(error.message.includes(param) || error.issues.length === 1, error.message)
    t.is(error.issues[0]?.param ?? '', error.param)
  })
