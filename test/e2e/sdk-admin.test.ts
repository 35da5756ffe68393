import test from 'ava'
import { Portkey } from 'portkey-ai'
import { startApp, type TestApp } from '../support/app.ts'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'

let emulator: Emulator
let app: TestApp
let admin: Portkey
let workspace: Portkey

/** `admin.users.list`, of every method that was called. */
const called = new Set<string>()

test.before(async () => {
  emulator = await startEmulator()
  app = await startApp({ env: { HEADER_ALIASES: 'portkey', LOG_LEVEL: 'warn' } })
  const client = (apiKey: string) => new Portkey({ baseURL: `${app.baseUrl}/v1`, apiKey, maxRetries: 0 })
  admin = client(app.adminKey)
  workspace = client(app.workspaceKey)
  for (const each of [admin, workspace]) for (const name of managed) noteCalls(Reflect.get(each, name), name)
})
test.after.always(async () => {
  await app?.stop()
  await emulator?.stop()
})

/** The parts of the client that manage resources served here. */
const managed = [
  'admin',
  'apiKeys',
  'collections',
  'configs',
  'feedback',
  'guardrails',
  'integrations',
  'labels',
  'prompts',
  'providers',
  'virtualKeys',
] as const

/** Its resources inside, by their names. */
const partsOf = (resource: object): readonly (readonly [name: string, part: object])[] =>
  Object.entries(resource).filter(([name, part]) => name !== 'client' && isResource(part))

const isResource = (part: unknown): part is object =>
  typeof part === 'object' && part !== null && Object.getPrototypeOf(Object.getPrototypeOf(part))?.constructor?.name === 'ApiResource'

const methodsOf = (resource: object): readonly string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== 'constructor')

function noteCalls(resource: object, name: string): void {
  for (const method of methodsOf(resource)) {
    const original: unknown = Reflect.get(resource, method)
    if (typeof original === 'function')
      Reflect.set(resource, method, (...args: unknown[]): unknown => {
        called.add(`${name}.${method}`)
        return Reflect.apply(original, resource, args)
      })
  }
  for (const [part, inside] of partsOf(resource)) noteCalls(inside, `${name}.${part}`)
}

type Fields = Readonly<Record<string, unknown>>

/** The client's result; its types have less, or `any`. */
const got = async (answer: PromiseLike<unknown>): Promise<Fields> => (await answer) as Fields

/** The ids or slugs in a list. */
async function listed(answer: PromiseLike<unknown>, field = 'id'): Promise<readonly unknown[]> {
  const { data } = (await got(answer)) as { data: readonly Fields[] }
  return data.map(({ [field]: value }) => value)
}

const gone = { message: /There is no|cancelled/ }

test.serial('users are invited, read, changed and deleted', async (t) => {
  const { users } = admin.admin
  const { invites } = users
  const { id: inviteId, invite_link: link } = (await got(invites.create({ email: 'ada@example.com', role: 'member', workspaces: [] }))) as {
    id: string
    invite_link: string
  }
  t.regex(link, /^http/)
  t.is((await got(invites.retrieve({ inviteId })))['status'], 'pending')
  t.deepEqual(await listed(invites.list({ email: 'ada@example.com', pageSize: 10, currentPage: 0 })), [inviteId])
  await invites.resend({ inviteId })
  const { invite_link: again } = await read(`/admin/users/invites/${inviteId}/resend`)
  const accepted = await read('/admin/users/invites/accept', { token: /[\w-]+$/.exec(String(again))?.[0] })
  const userId = String(accepted['user_id'])
  t.is((await got(users.retrieve({ userId })))['email'], 'ada@example.com')
  await users.update({ userId, role: 'admin' })
  t.deepEqual(await listed(users.list({ role: 'admin', pageSize: 10 })), [userId])

  const workspaces = admin.admin.workspaces
  const made = await got(
    workspaces.create({ name: 'SDK', description: 'Of the client.', defaults: { metadata: { team: 'sdk' } }, users: [] }),
  )
  const workspaceId = String(made['id'])
  t.is((await got(workspaces.retrieve({ workspaceId })))['name'], 'SDK')
  t.deepEqual(await listed(workspaces.list({ exact_name: 'SDK' })), [workspaceId])
  await workspaces.update({ workspaceId, name: 'SDK 2' })
  t.is((await got(workspaces.retrieve({ workspaceId })))['name'], 'SDK 2')
  await workspaces.users.create({ workspaceId, users: [{ id: userId, role: 'member' }] })
  t.is((await got(workspaces.users.retrieve({ workspaceId, userId })))['role'], 'member')
  await workspaces.users.update({ workspaceId, userId, role: 'manager' })
  t.deepEqual(await listed(workspaces.users.list({ workspaceId }), 'role'), ['manager'])
  await workspaces.users.delete({ workspaceId, userId })
  t.deepEqual(await listed(workspaces.users.list({ workspaceId })), [])
  await workspaces.delete({ workspaceId })
  await t.throwsAsync(async () => workspaces.retrieve({ workspaceId }), gone)

  await users.delete({ userId })
  await t.throwsAsync(async () => users.retrieve({ userId }), gone)
  const { id: other } = await got(invites.create({ email: 'bob@example.com', role: 'member' }))
  await invites.delete({ inviteId: String(other) })
  t.is((await got(invites.retrieve({ inviteId: String(other) })))['status'], 'cancelled')
})

/** A POST that the client has no method for, or whose answer it does not give. */
async function read(path: string, body: object = {}): Promise<Fields> {
  const response = await fetch(`${app.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { 'x-portkey-api-key': app.adminKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Fields
}

test.serial('API keys', async (t) => {
  const { apiKeys } = workspace
  const { id, key } = await got(apiKeys.create({ type: 'workspace', 'sub-type': 'service', name: 'sdk', scopes: ['logs.list'] }))
  t.regex(String(key), /^gh-/)
  t.is((await got(apiKeys.retrieve({ id: String(id) })))['name'], 'sdk')
  await apiKeys.update({ id: String(id), name: 'sdk 2', rate_limits: [{ type: 'requests', unit: 'rpm', value: 10 }] })
  t.true((await listed(apiKeys.list({ page_size: 10, current_page: 0 }), 'name')).includes('sdk 2'))
  await apiKeys.delete({ id: String(id) })
  await t.throwsAsync(async () => apiKeys.retrieve({ id: String(id) }), gone)
})

test.serial('integrations with models and workspaces, providers and virtual keys', async (t) => {
  const { integrations } = admin
  const configurations = { custom_host: emulator.url }
  const slug = 'sdk-openai'
  const { id } = await got(integrations.create({ name: 'sdk', slug, ai_provider_id: 'openai', key: 'sk-sdk', configurations }))
  t.is((await got(integrations.retrieve({ slug })))['id'], id)
  await integrations.update({ slug, description: 'Of the client.' })
  t.true((await listed(integrations.list({ type: 'organisation' }), 'slug')).includes(slug))
  await integrations.models.update({
    slug,
    allow_all_models: true,
    models: [
      { slug: 'gpt-4o', enabled: true },
      { slug: 'ours', enabled: true, is_custom: true, base_model_slug: 'gpt-4o' },
    ],
  })
  t.like(await got(integrations.models.list({ slug })), { total: 2 })
  await integrations.models.delete({ slug, slugs: 'ours' })
  t.like(await got(integrations.models.list({ slug })), { total: 1 })
  const [home] = await listed(admin.admin.workspaces.list({}), 'slug')
  await integrations.workspaces.update({ slug, workspaces: [{ id: home, enabled: true }] })
  t.like(await got(integrations.workspaces.list({ slug })), { total: 1 })
  await integrations.workspaces.update({ slug, workspaces: [], override_existing_workspaces_access: true })
  t.like(await got(integrations.workspaces.list({ slug })), { total: 0 })
  await integrations.workspaces.update({ slug, workspaces: [{ id: home, enabled: true }] })

  const { providers, virtualKeys } = workspace
  await providers.create({ name: 'sdk', slug: 'sdk-provider', integration_id: slug })
  t.is((await got(providers.retrieve({ slug: 'sdk-provider' })))['name'], 'sdk')
  await providers.update({ slug: 'sdk-provider', workspace_id: String(home), note: 'changed' })
  t.true((await listed(providers.list(), 'slug')).includes('sdk-provider'))
  await providers.delete({ slug: 'sdk-provider' })
  await t.throwsAsync(async () => providers.retrieve({ slug: 'sdk-provider' }), gone)

  const made = await got(virtualKeys.create({ name: 'sdk key', provider: 'openai', key: 'sk-sdk', note: null, configurations }))
  const key = (made['data'] as { slug: string }).slug
  t.is((await got(virtualKeys.retrieve({ slug: key })))['name'], 'sdk key')
  await virtualKeys.update({ slug: key, note: 'changed' })
  t.true((await listed(virtualKeys.list(), 'slug')).includes(key))
  await virtualKeys.delete({ slug: key })
  await t.throwsAsync(async () => virtualKeys.retrieve({ slug: key }), gone)
  await integrations.delete({ slug })
  await t.throwsAsync(async () => integrations.retrieve({ slug }), gone)
})

test.serial('configs and guardrails', async (t) => {
  const { configs, guardrails } = workspace
  const { data } = (await got(configs.create({ name: 'sdk', config: { provider: 'openai' }, isDefault: 1 }))) as { data: { slug: string } }
  const { slug } = data
  t.like(await got(configs.retrieve({ slug })), { data: { name: 'sdk', is_default: 1, config: { provider: 'openai' } } })
  t.like(await got(configs.update({ slug, name: 'sdk 2', config: { provider: 'anthropic' } })), { success: true })
  t.true((await listed(configs.list(), 'slug')).includes(slug))
  await configs.delete({ slug })
  await t.throwsAsync(async () => configs.retrieve({ slug }), gone)

  const feedback = { feedback: { value: 5, weight: 1, metadata: '' } }
  const actions = { deny: true, async: false, on_success: feedback, on_fail: feedback }
  const made = await guardrails.create({ name: 'sdk', checks: [{ id: 'default.notNull' }], actions })
  t.is((await guardrails.retrieve({ guardrail_id: made.id })).checks[0]?.id, 'default.notNull')
  const [home] = await listed(admin.admin.workspaces.list({}))
  await guardrails.update({ guardrail_id: made.id, workspace_id: String(home), name: 'sdk 2' })
  t.deepEqual(await listed(guardrails.list({ page_size: 5 }), 'name'), ['sdk 2'])
  await guardrails.delete({ guardrail_id: made.id })
  await t.throwsAsync(async () => guardrails.retrieve({ guardrail_id: made.id }), gone)
})

test.serial('collections, labels, prompts and their versions and partials', async (t) => {
  const { collections, labels, prompts } = workspace
  const { id: collectionId } = (await collections.create({ name: 'sdk' })) as { id: string }
  t.is((await got(collections.retrieve(collectionId)))['name'], 'sdk')
  await collections.update(collectionId, { name: 'sdk 2' })
  t.deepEqual(await listed(collections.list({ search: 'sdk' }), 'name'), ['sdk 2'])
  const { id: labelId } = (await labels.create({ name: 'sdk-label' })) as { id: string }
  t.is((await got(labels.retrieve(labelId)))['name'], 'sdk-label')
  await labels.update(labelId, { description: 'changed' })
  t.deepEqual(await listed(labels.list({ search: 'sdk' }), 'description'), ['changed'])

  const { partials, versions } = prompts
  const { slug: partial } = (await got(partials.create({ name: 'sdk partial', string: 'Be brief.' }))) as { slug: string }
  await partials.update(partial, { string: 'Be very brief.' })
  await partials.publish(partial, { version: 2 })
  t.is((await got(partials.retrieve(partial)))['string'], 'Be very brief.')
  t.true((await listed(partials.list(), 'slug')).includes(partial))
  t.is((await listed(partials.versions.list(partial))).length, 2)

  await workspace.integrations.create({
    name: 'sdk',
    slug: 'sdk',
    ai_provider_id: 'openai',
    key: 'sk-sdk',
    configurations: { custom_host: emulator.url },
  })
  const [provider] = await listed(workspace.providers.list(), 'slug')
  const content = { string: '[{"role":"user","content":"Hi {{name}}"}]', parameters: {}, model: 'gpt-4o' }
  const { slug } = (await got(prompts.create({ name: 'sdk', collection_id: collectionId, virtual_key: String(provider), ...content }))) as {
    slug: string
  }
  await prompts.update(slug, { ...content, string: '[{"role":"user","content":"Hello {{name}}"}]' })
  t.deepEqual(await listed(prompts.list({ search: 'sdk' }), 'slug'), [slug])
  await prompts.publish(slug, { version: 2 })
  t.is((await got(prompts.retrieve(slug)))['prompt_version'], 2)
  const [versionId] = await listed(versions.list(slug))
  await versions.update(slug, String(versionId), { label_id: labelId })
  t.truthy(await got(versions.retrieve(slug, String(versionId))))
  t.like((await prompts.render({ promptID: slug, variables: { name: 'Ada' } })).data, {
    messages: [{ role: 'user', content: 'Hello Ada' }],
  })
  t.true(((await got(prompts.completions.create({ promptID: slug, variables: { name: 'Ada' } })))['choices'] as unknown[]).length > 0)

  await prompts.delete(slug)
  await t.throwsAsync(async () => prompts.retrieve(slug), gone)
  await partials.delete(partial)
  await t.throwsAsync(async () => partials.retrieve(partial), gone)
  await labels.delete(labelId)
  await t.throwsAsync(async () => labels.retrieve(labelId), gone)
  await collections.delete(collectionId)
  await t.throwsAsync(async () => collections.retrieve(collectionId), gone)
})

test.serial('feedback', async (t) => {
  const { feedback } = workspace
  const made = await got(feedback.create({ traceID: 'sdk-trace', value: 1, weight: 0.5, metadata: { team: 'sdk' } }))
  const [feedbackID] = made['feedback_ids'] as string[]
  t.is((await got(feedback.update({ feedbackID: feedbackID ?? '', value: 2 })))['status'], 'success')
})

test.serial('every method of the client for what is served here was called', (t) => {
  const all = (resource: object, name: string): readonly string[] => [
    ...methodsOf(resource).map((method) => `${name}.${method}`),
    ...partsOf(resource).flatMap(([part, inside]) => all(inside, `${name}.${part}`)),
  ]
  const wanted = managed.flatMap((name) => all(Reflect.get(admin, name), name))
  t.true(wanted.length > 60, `${wanted.length}`)
  t.deepEqual(
    wanted.filter((name) => !called.has(name)),
    [],
  )
})
