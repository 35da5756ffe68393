// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

type Body = Readonly<Record<string, unknown>>
const data = (body: Body) => body['data'] as Record<string, unknown>
const simple = { provider: '@openai-prod', override_params: { temperature: 0 } }

async function made(body: Body = {}, key = acme.workspaceKey): Promise<{ id: string; slug: string; version_id: string }> {
  const answer = await control.call(key, 'POST', '/configs', { name: 'My Config!', config: simple, ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  return data(answer.body) as { id: string; slug: string; version_id: string }
}

const read = async (slug: string, key = acme.workspaceKey) => data((await control.call(key, 'GET', `/configs/${slug}`)).body)

test('a config is stored under a slug made from its name, and read by slug and id', async (t) => {
  const { id, slug, version_id } = await made()
  t.regex(slug, /^pc-my-config-[a-z0-9]{6}$/)
  for (const reference of [id, slug]) {
    const { created_at: createdAt, ...rest } = await read(reference)
    t.regex(String(createdAt), /^\d{4}-/)
    t.like(rest, {
      id,
      slug,
      version_id,
      name: 'My Config!',
      is_default: 0,
      status: 'active',
      workspace_id: acme.workspaceId,
      object: 'config',
    })
    t.deepEqual(rest['config'], simple)
  }
})

test('new content is a new version, and older ones stay', async (t) => {
  const { slug, version_id: first } = await made()
  const second = { retry: { attempts: 3 }, virtual_key: 'a' }
  const renamed = await control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { name: 'Other' })
  t.is(data(renamed.body)['version_id'], first)
  const changed = await control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { config: second })
  const { version_id: newest } = data(changed.body)
  t.not(newest, first)
  t.like(await read(slug), { version_id: newest, name: 'Other', config: second })
  const { body } = await control.call(acme.workspaceKey, 'GET', `/configs/${slug}/versions`)
  t.like(body, { object: 'list', total: 2, has_more: false })
  t.deepEqual(
    (body['data'] as Body[]).map(({ version_id, version, config }) => ({
      version_id,
      version,
      config: JSON.parse(String(config)) as unknown,
    })),
    [
      { version_id: newest, version: 2, config: second },
      { version_id: first, version: 1, config: simple },
    ],
  )
})

test('a workspace has one default config at a time', async (t) => {
  const one = await made({ isDefault: 1, workspace_id: acme.sideId }, acme.sideKey)
  const other = await made({ isDefault: true }, acme.sideKey)
  t.is((await read(one.slug, acme.sideKey))['is_default'], 0)
  t.is((await read(other.slug, acme.sideKey))['is_default'], 1)
  await control.call(acme.sideKey, 'PUT', `/configs/${one.id}`, { isDefault: 1 })
  t.is((await read(other.slug, acme.sideKey))['is_default'], 0)
  t.is((await read(one.slug, acme.sideKey))['is_default'], 1)
})

test('credentials are sealed, shown as a mask, and kept when the mask comes back', async (t) => {
  const secret = 'sk-very-secret-config-key-000001'
  const config = {
    provider: 'openai',
    api_key: secret,
    custom_host: 'https://one.example/v1',
    strategy: { mode: 'single' },
    targets: [{ provider: 'bedrock', aws_secret_access_key: `${secret}-aws`, aws_region: 'eu-west-1' }],
    mirror: { target: { provider: 'groq', api_key: `${secret}-mirror` }, share: 0.5 },
  }
  const { slug } = await made({ config })
  const shown = (await read(slug))['config'] as typeof config
  t.is(shown.api_key, '********')
  t.is(shown.targets[0]?.aws_secret_access_key, '********')
  t.is(shown.targets[0]?.aws_region, 'eu-west-1')
  t.deepEqual(shown.mirror, { target: { provider: 'groq', api_key: '********' }, share: 0.5 })
  t.false((await control.dump()).includes(secret))

  const put = (changed: unknown) => control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { config: changed })
  const kept = await put({ ...shown, request_timeout: 5000 })
  t.is(kept.status, 200, kept.text)
  t.is(((await read(slug))['config'] as Body)['request_timeout'], 5000)
  for (const [moved, param] of [
    [{ ...shown, custom_host: 'https://evil.example/v1' }, 'config.api_key'],
    [{ ...shown, mirror: { target: { ...shown.mirror.target, provider: 'openai' } } }, 'config.mirror.target.api_key'],
    [{ ...shown, targets: [{ ...shown.targets[0], aws_region: 'us-east-1' }] }, 'config.targets[0].aws_secret_access_key'],
    [
      { ...shown, targets: [...shown.targets, ...shown.targets], strategy: { mode: 'fallback' } },
      'config.targets[1].aws_secret_access_key',
    ],
  ] as const) {
    const refused = await put(moved)
    t.like(refused.body['error'], { code: 'AB01', param }, refused.text)
  }
  const fresh = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'x', config: shown })
  t.like(fresh.body['error'], { code: 'AB01', param: 'config.api_key' })
})

test('credentials in the parameters of a config are shown as a mask too, and go to no other server', async (t) => {
  const secret = 'sk-very-secret-parameter'
  const tool = { type: 'mcp', server_url: 'https://tools.example/mcp', authorization: secret, headers: { 'x-any': secret } }
  const params = { max_tokens: 5, user: 'me', tools: [tool], vendor: { api_key: secret, eos_token: '</s>' } }
  const { slug } = await made({ config: { provider: 'openai', override_params: params } })
  const { config: shown } = (await read(slug)) as { config: { provider: string; override_params: typeof params } }
  t.false(JSON.stringify(shown).includes(secret))
  t.like(shown.override_params, { max_tokens: 5, user: 'me', vendor: { api_key: '********', eos_token: '</s>' } })
  t.like(shown.override_params.tools[0], { server_url: tool.server_url, authorization: '********', headers: { 'x-any': '********' } })
  const put = (override_params: object) =>
    control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { config: { ...shown, override_params } })
  t.is((await put({ ...shown.override_params, max_tokens: 6 })).status, 200)
  const moved = await put({ ...shown.override_params, tools: [{ ...shown.override_params.tools[0], server_url: 'https://evil.example' }] })
  t.like(moved.body['error'], { code: 'AB01', param: 'config.override_params.tools[0].authorization' }, moved.text)
})

const wrong: readonly (readonly [config: unknown, param: string, message: RegExp])[] = [
  [{}, 'config', /has no effect/],
  [{ name: 'only a name' }, 'config', /has no effect/],
  ['{}', 'config', /expected an object/],
  [{ provider: 'nobody' }, 'config.provider', /no such provider/],
  [{ provider: 'openai', nonsense: 1 }, 'config.nonsense', /no such field/],
  [
    { mirror: { target: { provider: 'openai', api_key: 'k', custom_host: 'http://10.0.0.1/v1' } } },
    'config.mirror.target.custom_host',
    /10\.0\.0\.1|not allowed|private/,
  ],
  [{ mirror: { target: { virtual_key: 'a', cache: { mode: 'simple' } } } }, 'config.mirror.target.cache', /take this out/],
  [{ targets: [{ provider: 'openai' }] }, 'config.strategy', /need a strategy/],
  [{ strategy: { mode: 'fallback' } }, 'config.targets', /needs targets/],
  [{ strategy: { mode: 'round' }, targets: [{ provider: 'openai' }] }, 'config.strategy.mode', /must be one of single/],
  [
    { strategy: { mode: 'fallback' }, targets: [{ provider: 'openai' }, { virtual_key: 'a b' }] },
    'config.targets[1].virtual_key',
    /no slug/,
  ],
  [
    { strategy: { mode: 'fallback' }, targets: [{ provider: 'openai', retry: { attempts: 6 } }] },
    'config.targets[0].retry.attempts',
    /must be at most 5/,
  ],
  [{ strategy: { mode: 'single' }, targets: [{ provider: 'openai' }, { provider: 'groq' }] }, 'config.targets', /takes one target/],
  [{ strategy: { mode: 'loadbalance' }, targets: [{ provider: 'openai', weight: 0 }] }, 'config.targets', /weights/],
  [{ strategy: { mode: 'conditional' }, targets: [{ provider: 'openai', name: 'a' }] }, 'config.strategy.conditions', /needs conditions/],
  [
    {
      strategy: { mode: 'conditional', default: 'b', conditions: [{ query: { 'metadata.x': { $eq: 1 } }, then: 'a' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.default',
    /No target has this name/,
  ],
  [
    {
      strategy: { mode: 'conditional', default: 'a', conditions: [{ query: { 'metadata.x': { $regex: '(?=a)' } }, then: 'a' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.conditions[0].query.metadata.x.$regex',
    /pattern cannot be used/,
  ],
  [
    {
      strategy: { mode: 'conditional', default: 'a', conditions: [{ query: { 'metadata.x': { $regex: '[a-z]{900}' } }, then: 'a' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.conditions[0].query.metadata.x.$regex',
    /pattern repeats too much for a condition/,
  ],
  [
    {
      strategy: { mode: 'conditional', default: 'a', conditions: [{ query: { 'cookies.x': 'a' }, then: 'a' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.conditions[0].query.cookies.x',
    /looks at/,
  ],
  ...[null, true].map((bound): (typeof wrong)[number] => [
    {
      strategy: { mode: 'conditional', default: 'a', conditions: [{ query: { 'metadata.x': { $gt: bound } }, then: 'a' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.conditions[0].query.metadata.x.$gt',
    /a number or a text/,
  ]),
  [
    { strategy: { mode: 'fallback', default: 'b' }, targets: [{ provider: 'openai', name: 'a' }] },
    'config.strategy.default',
    /No target has this name/,
  ],
  [
    {
      strategy: { mode: 'single', conditions: [{ query: { 'metadata.x': 1 }, then: 'b' }] },
      targets: [{ provider: 'openai', name: 'a' }],
    },
    'config.strategy.conditions[0].then',
    /No target has this name/,
  ],
  [{ input_guardrails: [{ 'default.wordCount': {}, type: 42 }] }, 'config.input_guardrails[0].type', /must be one of/],
  [{ input_guardrails: [{ 'default.wordCount': {}, is_enabled: 'no' }] }, 'config.input_guardrails[0].is_enabled', /true or false/],
  [{ cache: { mode: 'simple', max_age: 59 } }, 'config.cache.max_age', /must be at least 60/],
  [{ cache: { mode: 'simple', max_age: 7_776_001 } }, 'config.cache.max_age', /must be at most 7776000/],
  [{ provider: 'openai', cb_config: { cooldown_interval: 29_999 } }, 'config.cb_config.cooldown_interval', /must be at least 30000/],
  [{ request_timeout: 0 }, 'config.request_timeout', /must be at least 1/],
  [{ provider: 'openai', custom_host: 'ftp://x' }, 'config.custom_host', /not an http/],
  [{ provider: 'openai', custom_host: 'http://u:p@x' }, 'config.custom_host', /no user/],
  [{ drop_params: ['a['] }, 'config.drop_params[0]', /no path/],
  [{ passthrough: true, drop_params: ['a'] }, 'config.drop_params', /passthrough/],
  [{ provider: 'openai', forward_headers: ['a b'] }, 'config.forward_headers[0]', /not a header name/],
  [{ provider: 'openai', input_guardrails: ['pg-none'] }, 'config.input_guardrails[0]', /no guardrail "pg-none"/],
  [
    { strategy: { mode: 'single' }, targets: [{ provider: 'openai', output_guardrails: ['pg-none'] }] },
    'config.targets[0].output_guardrails[0]',
    /no guardrail/,
  ],
  [
    { input_guardrails: [{ 'default.contains': { words: [] } }] },
    'config.input_guardrails[0].default.contains.words',
    /must have at least 1 item/,
  ],
  [{ input_guardrails: [{ 'default.nonsense': {} }] }, 'config.input_guardrails[0].default.nonsense', /no check/],
  [{ input_guardrails: [{ deny: true }] }, 'config.input_guardrails[0]', /no check/],
  [{ input_guardrails: [{ 'default.notNull': {}, deny: true }] }, 'config.input_guardrails[0]', /never run before the call/],
  [{ output_guardrails: [{ 'default.modelWhitelist': { models: ['m'] } }] }, 'config.output_guardrails[0]', /never run after the call/],
  [{ before_request_hooks: [{ checks: [{ id: 'default.notNull' }] }] }, 'config.before_request_hooks[0]', /never run/],
  [
    {
      strategy: { mode: 'single' },
      targets: [{ after_request_hooks: [{ checks: [{ id: 'default.addPrefix', parameters: { prefix: 'a' } }] }] }],
    },
    'config.targets[0].after_request_hooks[0]',
    /never run/,
  ],
  [
    {
      input_guardrails: [{ id: 'a', 'default.notNull': {}, 'default.wordCount': {} }],
      before_request_hooks: [{ checks: [{ id: 'default.wordCount' }] }, { id: 'a', checks: [{ id: 'default.wordCount' }] }],
    },
    'config.before_request_hooks[1].id',
    /Another guardrail has this id/,
  ],
  [
    { before_request_hooks: [{ checks: [{ id: 'default.regexMatch', parameters: { rule: '(?=a)' } }] }] },
    'config.before_request_hooks[0].checks[0].parameters.rule',
    /pattern cannot be used/,
  ],
  [
    { input_guardrails: [{ 'default.webhook': { webhookURL: 'http://10.0.0.1/x' } }] },
    'config.input_guardrails[0].default.webhook.webhookURL',
    /not allowed/,
  ],
  [{ provider: 'openai', override_params: { x: 'y'.repeat(140_000) } }, 'config', /at most 128 KiB/],
  [{ strategy: { mode: 'conditional', conditions: [manyPatterns(5000)], default: 'a' }, targets: [] }, 'config', /at most 128 KiB/],
]

function manyPatterns(count: number): object {
  const $or = Array.from({ length: count }, (_, at) => ({ model: { $regex: `a${at}.{0,9}b` } }))
  return { query: { $or }, then: 'a' }
}

for (const [config, param, message] of wrong)
  test(`refused: ${JSON.stringify(config).slice(0, 160)}`, async (t) => {
    const { status, body } = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'x', config })
    t.is(status, 400)
    const error = body['error'] as { code: string; param: string; message: string }
    t.is(error.param, param)
    t.regex(error.code, /^AB01$|^blocked_host$/)
    t.regex(error.message, message)
  })

const right: readonly unknown[] = [
  { provider: 'openai', api_key: 'sk-x' },
  { provider: 'openai', custom_host: 'http://127.0.0.1:8000/v1' },
  { virtual_key: 'some-key' },
  { cache: { mode: 'semantic', max_age: 60 } },
  { retry: { attempts: 5, on_status_codes: [429], use_retry_after_headers: true } },
  { prompt_id: 'pp-x' },
  { forward_headers: ['x-custom'] },
  { request_timeout: 10_000 },
  { passthrough: true, provider: 'openai' },
  { default_params: { max_tokens: 5 }, drop_params: ['tools[*].function.strict', 'metadata["x.y"]'] },
  {
    input_guardrails: [{ 'default.contains': { words: ['a'] }, deny: true }],
    after_request_hooks: [{ type: 'guardrail', checks: [{ id: 'default.notNull' }] }],
  },
  { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd', api_version: '2024-10-21', api_key: 'k' },
  { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd', azure_model_name: 'gpt-4o', azure_region: 'eastus' },
  { provider: 'bedrock', aws_s3_bucket: 'b', aws_s3_object_key: 'k', aws_bedrock_model: 'm' },
  { provider: 'vertex-ai', vertex_storage_bucket_name: 'b', vertex_skip_ptu_cost_attribution: true },
  { provider: 'vertex-ai', vertex_region: 'global', vertex_service_account_json: { client_email: 'a', private_key: 'b' } },
  {
    strategy: {
      mode: 'conditional',
      default: 'b',
      conditions: [
        {
          query: {
            $or: [
              { 'metadata.plan': { $in: ['pro', 1, null] } },
              { $and: [{ 'params.model': { $regex: '^gpt' } }, { 'url.pathname': '/v1/x' }] },
            ],
          },
          then: 'a',
        },
      ],
    },
    targets: [
      { name: 'a', virtual_key: 'a', weight: 0.5 },
      {
        name: 'b',
        strategy: {
          mode: 'loadbalance',
          sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 },
          cb_config: { failure_threshold: 3 },
        },
        targets: [{ provider: '@x' }, { provider: '@y', weight: 0 }],
      },
    ],
  },
]

for (const config of right)
  test(`stored and read back: ${JSON.stringify(config).slice(0, 120)}`, async (t) => {
    const { slug } = await made({ config })
    const shown = (await read(slug))['config'] as Body
    t.deepEqual(Object.keys(shown).toSorted(), Object.keys(config as Body).toSorted())
    t.deepEqual(
      { ...shown, api_key: 0, vertex_service_account_json: 0 },
      { ...(config as Body), api_key: 0, vertex_service_account_json: 0 },
    )
  })

test('lists are of one workspace, or for an organisation key of all', async (t) => {
  const tenant = await control.createTenant('lists')
  const [a, b, c] = [
    await made({ name: 'A one' }, tenant.workspaceKey),
    await made({ name: 'B 100%' }, tenant.workspaceKey),
    await made({ workspace_id: 'side' }, tenant.adminKey),
  ]
  const slugs = async (key: string, query = '') =>
    ((await control.call(key, 'GET', `/configs${query}`)).body['data'] as { slug: string }[]).map(({ slug }) => slug)
  t.deepEqual(await slugs(tenant.workspaceKey), [b.slug, a.slug])
  t.deepEqual(await slugs(tenant.sideKey), [c.slug])
  t.deepEqual(await slugs(tenant.adminKey), [c.slug, b.slug, a.slug])
  t.deepEqual(await slugs(tenant.adminKey, '?workspace_id=side'), [c.slug])
  t.deepEqual(await slugs(tenant.adminKey, '?name=0%25'), [b.slug])
  t.like((await control.call(tenant.adminKey, 'GET', '/configs?page_size=2&current_page=1')).body, {
    success: true,
    object: 'list',
    total: 3,
    has_more: false,
  })
  t.is((await control.call(tenant.workspaceKey, 'GET', `/configs/${c.slug}`)).status, 404)
  t.is((await control.call(acme.adminKey, 'GET', `/configs/${c.slug}`)).status, 404)
  t.deepEqual(((await control.call(tenant.adminKey, 'GET', '/configs')).text.match(/override_params/g) ?? []).length, 0)
})

test('a config that keys or a workspace start from is not deleted', async (t) => {
  const { id, slug } = await made()
  const key = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', {
    name: 'The key',
    scopes: ['completions.write'],
    workspace_id: acme.workspaceId,
    defaults: { config_id: slug },
  })
  for (const [method, body] of [
    ['DELETE', undefined],
    ['PUT', { status: 'archived' }],
  ] as const) {
    const refused = await control.call(acme.workspaceKey, method, `/configs/${slug}`, body)
    t.is(refused.status, 409)
    t.regex((refused.body['error'] as { message: string }).message, /API key "The key"/)
  }
  await control.call(acme.adminKey, 'DELETE', `/api-keys/${String(key.body['id'])}`)
  await control.sql.query(`UPDATE workspaces SET defaults = $1 WHERE id = $2`, [{ user_api_key_config: id }, acme.workspaceId])
  t.regex((await control.call(acme.workspaceKey, 'DELETE', `/configs/${id}`)).text, /workspace \\"Main\\"/)
  await control.sql.query(`UPDATE workspaces SET defaults = '{}' WHERE id = $1`, [acme.workspaceId])
  t.is((await control.call(acme.workspaceKey, 'DELETE', `/configs/${id}`)).status, 200)
  for (const method of ['GET', 'DELETE']) t.is((await control.call(acme.workspaceKey, method, `/configs/${slug}`)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'GET', `/configs/${slug}/versions`)).status, 404)
})

test('a slug can be chosen once', async (t) => {
  const { slug } = await made({ slug: 'pc-chosen' })
  t.is(slug, 'pc-chosen')
  const again = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'x', slug, config: simple })
  t.is(again.status, 409)
})
