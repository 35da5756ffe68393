import test from 'ava'
import { loadConfig } from '../../../src/config/index.ts'
import { features } from '../../../src/features/index.ts'
import { checks as allChecks } from '../../../src/gateway/checks/registry.ts'
import { organisationScopes } from '../../../src/lib/access/scopes.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startApp } from '../../support/app.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

type Body = Readonly<Record<string, unknown>>
const forbids = (rule: string) => [{ id: 'default.regexMatch', parameters: { rule, not: true } }]
const simple = { name: 'No secrets!', checks: forbids('secret'), actions: { onFail: 'block', message: 'No.' } }

test('each parameter that a check does not have is listed', async (t) => {
  const body = { ...simple, checks: [{ id: 'default.wordCount', parameters: { minWords: 'x', nope: 1, neither: 2 } }] }
  const answer = await control.call(acme.workspaceKey, 'POST', '/guardrails', body)
  const { issues } = answer.body['error'] as { readonly issues: readonly { readonly param: string }[] }
  const wanted = ['minWords', 'neither', 'nope'].map((name) => `checks[0].parameters.${name}`)
  t.deepEqual(issues.map(({ param }) => param).toSorted(), wanted, answer.text)
})

interface Reference {
  readonly id: string
  readonly slug: string
  readonly version_id: string
}

async function made(body: Body = {}, key = acme.workspaceKey): Promise<Reference> {
  const answer = await control.call(key, 'POST', '/guardrails', { ...simple, ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as unknown as Reference
}

const read = (reference: string, key = acme.workspaceKey) => control.call(key, 'GET', `/guardrails/${reference}`)
const errorOf = ({ body }: { body: Body }) => body['error'] as { code: string; param: string; message: string }

test('a guardrail is stored under a slug made from its name, and read by slug and id', async (t) => {
  const { id, slug, version_id } = await made()
  t.regex(slug, /^pg-no-secrets-[a-z0-9]{6}$/)
  for (const reference of [id, slug]) {
    const { body } = await read(reference)
    t.like(body, {
      ...simple,
      id,
      slug,
      version_id,
      status: 'active',
      workspace_id: acme.workspaceId,
      organisation_id: acme.organisationId,
      updated_by: null,
    })
  }
})

test('both shapes of actions are taken as they are given', async (t) => {
  for (const actions of [
    { onFail: 'log' },
    { onFail: 'warn', message: 'm' },
    {
      deny: true,
      async: false,
      sequential: true,
      on_success: { feedback: { value: 5, weight: 1, metadata: '' } },
      on_fail: { feedback: { value: -5 } },
      message: 'x',
    },
    { deny: false, async: true },
  ]) {
    const { id } = await made({ actions })
    t.deepEqual((await read(id)).body['actions'], actions)
  }
})

const actionChanges: readonly (readonly [before: object, change: object, after: object])[] = [
  [{ deny: true, sequential: true }, { message: 'x' }, { deny: true, sequential: true, message: 'x' }],
  [{ deny: true, sequential: true, message: 'x' }, { sequential: null, message: null }, { deny: true }],
  [{ onFail: 'block', message: 'x' }, { message: 'y' }, { onFail: 'block', message: 'y' }],
  [{ onFail: 'block', message: 'x' }, { sequential: true }, { deny: true, sequential: true, message: 'x' }],
  [{ onFail: 'log' }, { deny: null, sequential: true }, { async: true, sequential: true }],
  [{ onFail: 'block', message: 'x' }, { onFail: null }, { message: 'x' }],
  [{ deny: true, message: 'x' }, { onFail: 'warn' }, { onFail: 'warn', message: 'x' }],
  [{ deny: true }, {}, { deny: true }],
]
test('of the actions too, whichever shape they have', async (t) => {
  for (const [before, actions, after] of actionChanges) {
    const { id } = await made({ actions: before })
    const answer = await control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { actions })
    t.is(answer.status, 200, answer.text)
    t.deepEqual((await read(id)).body['actions'], after, JSON.stringify([before, actions]))
  }
})

test('what is changed gets a new version, what is not named stays', async (t) => {
  const { id, version_id: first } = await made()
  const renamed = await control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { name: 'Other' })
  t.is(renamed.body['version_id'], first)
  const changed = await control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { actions: { deny: true } })
  t.not(changed.body['version_id'], first)
  t.like((await read(id)).body, { name: 'Other', checks: simple.checks, actions: { deny: true } })
  await control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { checks: forbids('other') })
  t.deepEqual((await read(id)).body['checks'], forbids('other'))
})

const webhook = (webhookURL: string, token: string) => [
  { id: 'default.webhook', parameters: { webhookURL, headers: { authorization: token }, secret: `${token}-2` } },
]

test('a change may name the workspace of the guardrail, and no other', async (t) => {
  const { id } = await made()
  const change = (workspace: string, key = acme.adminKey) =>
    control.call(key, 'PUT', `/guardrails/${id}`, { name: `In ${workspace}`, workspace_id: workspace })
  t.is((await change(acme.workspaceId)).status, 200)
  t.like((await read(id)).body, { name: `In ${acme.workspaceId}`, workspace_id: acme.workspaceId })
  t.is((await change('side')).status, 404)
  t.is((await change('side', acme.workspaceKey)).status, 403)
})

test('secrets of checks are sealed and masked, and stay where they were sent', async (t) => {
  const secret = 'a-very-secret-token-of-a-webhook-01'
  const { id } = await made({ checks: webhook('https://hook.example/a', secret) })
  t.false((await control.dump()).includes(secret))
  const { checks: shown } = (await read(id)).body
  t.deepEqual(shown, [
    {
      id: 'default.webhook',
      parameters: { webhookURL: 'https://hook.example/a', headers: { authorization: '********' }, secret: '********' },
    },
  ])
  const put = (checks: unknown) => control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { checks })
  t.is((await put(shown)).status, 200)
  const moved = await put(webhook('https://evil.example/a', '********'))
  t.like(errorOf(moved), { code: 'AB01', param: 'checks[0].parameters.headers.authorization' })
  const fresh = await control.call(acme.workspaceKey, 'POST', '/guardrails', { ...simple, checks: shown })
  t.like(errorOf(fresh), { code: 'AB01', param: 'checks[0].parameters.headers.authorization' })
})

const toWebhook = (webhookURL: string) => [{ id: 'default.webhook', parameters: { webhookURL } }]

test('a token in the query of a webhook’s URL is masked, in the trail too, and stays where it was sent', async (t) => {
  const token = 'token-in-the-query-of-a-webhook'
  const url = `https://hook.example/a?v=2&sig=${token}`
  const { id } = await made({ checks: toWebhook(url) })
  t.false((await control.dump()).includes(token))
  const shown = toWebhook('https://hook.example/a?v=********&sig=********')
  t.deepEqual((await read(id)).body['checks'], shown)
  const put = (given: unknown) => control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { checks: given })
  t.is((await put(shown)).status, 200)
  t.deepEqual((await read(id)).body['checks'], shown)
  t.like(errorOf(await put(toWebhook('https://evil.example/a?v=********&sig=********'))), { param: 'checks[0].parameters.webhookURL' })
  const trail = await control.call(acme.adminKey, 'GET', '/audit-logs?page_size=100')
  t.true(trail.text.includes('hook.example'))
  t.false(trail.text.includes(token))
})

test('a guardrail of a workspace passes on no credential of callers, one of the organisation does', async (t) => {
  const checks = [
    { id: 'default.webhook', parameters: { webhookURL: 'https://hook.example/a', forwardHeaders: ['x-mine', 'Authorization'] } },
  ]
  const refused = await control.call(acme.workspaceKey, 'POST', '/guardrails', { ...simple, checks })
  t.like(errorOf(refused), { code: 'AB01', param: 'checks[0].parameters.forwardHeaders[1]' })
  t.is((await control.call(acme.adminKey, 'POST', '/guardrails', { ...simple, checks })).status, 200)
})

const wrong: readonly (readonly [body: Body, param: string, message?: RegExp])[] = [
  [{ name: '' }, 'name'],
  [{ checks: [] }, 'checks', /must have at least 1 item/],
  [{ actions: {} }, 'actions.onFail', /Set the actions/],
  [{ actions: { message: 'No.' } }, 'actions.onFail', /Set the actions/],
  [{ checks: [{ id: 'default.none' }] }, 'checks[0].id', /no check/],
  [{ checks: [{ id: 'default.regexMatch' }] }, 'checks[0].parameters.rule'],
  [
    { checks: [{ id: 'default.regexMatch', parameters: { rule: 'a', nonsense: 1 } }] },
    'checks[0].parameters.nonsense',
    /no such parameter/,
  ],
  [{ checks: [{ id: 'default.regexMatch', parameters: { rule: '(a+)+\\1' } }] }, 'checks[0].parameters.rule', /pattern cannot be used/],
  [{ checks: [{ id: 'default.wordCount', parameters: { minWords: 5, maxWords: 1 } }] }, 'checks[0].parameters.minWords', /larger/],
  [
    { checks: [{ id: 'default.jwt', parameters: { jwks: { keys: [] }, jwksUri: 'https://x.example/k' } }] },
    'checks[0].parameters.jwksUri',
    /one of them/,
  ],
  [{ checks: [{ id: 'default.jwt', parameters: { headerKey: 'x' } }] }, 'checks[0].parameters.jwksUri', /Give jwksUri/],
  [
    { checks: [{ id: 'default.jwt', parameters: { jwksUri: 'https://x.example/k', algorithms: ['HS256'] } }] },
    'checks[0].parameters.algorithms[0]',
  ],
  [
    { checks: [{ id: 'default.jwt', parameters: { jwksUri: 'https://x.example/k', maxTokenAge: 'soon' } }] },
    'checks[0].parameters.maxTokenAge',
  ],
  [
    { checks: [{ id: 'default.jwt', parameters: { jwksUri: 'http://169.254.169.254/k' } }] },
    'checks[0].parameters.jwksUri',
    /never allowed/,
  ],
  [
    { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://10.1.2.3/' } }] },
    'checks[0].parameters.webhookURL',
    /not allowed/,
  ],
  [
    { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://hook.example/x', headers: { 'Content-Length': '1' } } }] },
    'checks[0].parameters.headers.Content-Length',
    /set by the gateway/,
  ],
  [
    { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://hook.example/x', forwardHeaders: ['x-a', 'host'] } }] },
    'checks[0].parameters.forwardHeaders[1]',
    /set by the gateway/,
  ],
  [
    { checks: [{ id: 'default.jsonSchema', parameters: { schema: { type: 'object', required: 'name' } } }] },
    'checks[0].parameters.schema',
    /`required` is not a list of names/,
  ],
  [
    { checks: [{ id: 'default.jsonSchema', parameters: { schema: { $ref: 'https://x.example/s' } } }] },
    'checks[0].parameters.schema',
    /refers to/,
  ],
  [
    { checks: [{ id: 'default.allowedRequestTypes', parameters: { allowedTypes: ['embed'], blockedTypes: ['embed'] } }] },
    'checks[0].parameters.blockedTypes',
  ],
  [
    { checks: [{ id: 'default.jsonSchema', parameters: { schema: { title: 'T', propertes: {}, requird: ['a'] } } }] },
    'checks[0].parameters.schema',
    /`propertes` is no keyword/,
  ],
  [
    { checks: [{ id: 'default.requestParametersCheck', parameters: { params: { values: { seed: {} } } } }] },
    'checks[0].parameters.params.values.seed',
    /Give blockedValues or allowedValues/,
  ],
  [
    { checks: [{ id: 'default.requiredMetadataKeyPairs', parameters: { metadataPairs: { a: ['b', ''] }, matchType: 'contains' } }] },
    'checks[0].parameters.metadataPairs',
    /empty text/,
  ],
  [
    {
      checks: [
        {
          id: 'default.jwt',
          parameters: { jwksUri: 'https://x.example/k', claimValues: { role: { values: '', matchType: 'regex' } } },
        },
      ],
    },
    'checks[0].parameters.claimValues',
    /empty text/,
  ],
  [{ checks: [{ id: 'default.contains', parameters: { words: ['a'], on_error: 'explode' } }] }, 'checks[0].parameters.on_error'],
  [{ actions: { onFail: 'explode' } }, 'actions.onFail'],
  [{ actions: { deny: 'yes' } }, 'actions.deny'],
  [{ actions: { onFail: 'block', deny: true } }, 'actions.deny', /goes without onFail/],
  [{ actions: { on_fail: { value: 1 } } }, 'actions.on_fail'],
  [{ workspace_id: 'nowhere' }, 'workspace_id'],
]
for (const [body, param, message] of wrong)
  test(`refused: ${JSON.stringify(body).slice(0, 140)}`, async (t) => {
    const answer = await control.call(acme.workspaceKey, 'POST', '/guardrails', { ...simple, ...body })
    t.true([400, 403, 404].includes(answer.status), answer.text)
    t.true(errorOf(answer).param.startsWith(param), answer.text)
    if (message !== undefined) t.regex(errorOf(answer).message, message)
  })

test('every check with what it needs can be stored', async (t) => {
  const needed: Readonly<Record<string, Body>> = {
    'default.regexMatch': { rule: 'a' },
    'default.regexReplace': { rule: 'a' },
    'default.contains': { words: ['a'] },
    'default.endsWith': { suffix: 'a' },
    'default.containsCode': { format: 'C++' },
    'default.jsonSchema': { schema: { type: 'object' } },
    'default.jsonKeys': { keys: ['a'] },
    'default.modelWhitelist': { models: ['a'] },
    'default.modelRules': { rules: { defaults: ['a'] } },
    'default.requiredMetadataKeys': { metadataKeys: ['a'] },
    'default.requiredMetadataKeyPairs': { metadataPairs: { a: ['b', 'c'] }, matchType: 'regex' },
    'default.jwt': {
      jwksUri: 'https://issuer.example/keys',
      headerKey: 'Authorization',
      algorithms: ['RS256'],
      cacheMaxAge: 86_400,
      clockTolerance: 5,
      maxTokenAge: '1d',
    },
    'default.webhook': { webhookURL: 'https://hook.example/x', headers: '{"a":"b"}', timeout: 3000, failOnError: false },
    'default.log': { logURL: 'https://hook.example/x' },
  }
  const own = allChecks.filter(({ id }) => id.startsWith('default.'))
  t.is(own.length, 24)
  for (const { id } of own) {
    const answer = await control.call(acme.workspaceKey, 'POST', '/guardrails', {
      ...simple,
      checks: [{ id, parameters: needed[id] ?? {} }],
    })
    t.is(answer.status, 200, `${id}: ${answer.text}`)
  }
})

test('an organisation key makes guardrails for all workspaces, a workspace key for its own', async (t) => {
  const tenant = await control.createTenant('homes')
  const everywhere = await made({}, tenant.adminKey)
  const named = await made({ organisation_id: tenant.organisationId }, tenant.adminKey)
  const inSide = await made({ workspace_id: 'side' }, tenant.adminKey)
  const own = await made({}, tenant.workspaceKey)
  for (const [{ id }, workspace] of [
    [everywhere, null],
    [named, null],
    [inSide, tenant.sideId],
    [own, tenant.workspaceId],
  ] as const)
    t.is((await read(id, tenant.adminKey)).body['workspace_id'], workspace)
  t.is((await read(everywhere.id, tenant.workspaceKey)).status, 404)
  t.is((await read(own.id, tenant.sideKey)).status, 404)
  t.is((await control.call(tenant.workspaceKey, 'POST', '/guardrails', { ...simple, organisation_id: tenant.organisationId })).status, 403)
  t.is((await control.call(tenant.adminKey, 'POST', '/guardrails', { ...simple, organisation_id: acme.organisationId })).status, 403)
  const list = async (key: string, query = '') =>
    ((await control.call(key, 'GET', `/guardrails${query}`)).body['data'] as Reference[]).map(({ id }) => id)
  t.deepEqual(await list(tenant.adminKey), [own.id, inSide.id, named.id, everywhere.id])
  t.deepEqual(await list(tenant.adminKey, '?workspace_id=side'), [inSide.id])
  t.deepEqual(await list(tenant.adminKey, `?organisation_id=${tenant.organisationId}`), [named.id, everywhere.id])
  t.deepEqual(await list(tenant.workspaceKey), [own.id])
  t.deepEqual(await list(tenant.adminKey, `?ids=${own.id},${named.slug},nothing`), [own.id, named.id])
  const page = await control.call(tenant.adminKey, 'GET', '/guardrails?page_size=1&current_page=1')
  t.like(page.body, { object: 'list', total: 4, has_more: true })
  t.is((await control.call(tenant.adminKey, 'GET', '/guardrails?page_size=1001')).status, 400)
  const limited = await control.createKey(tenant, {
    scopes: organisationScopes.filter((scope) => !scope.startsWith('organisation_guardrails')),
  })
  t.deepEqual(await list(limited), [own.id, inSide.id])
  t.is((await read(everywhere.id, limited)).status, 403)
})

test('a guardrail that is used is not deleted', async (t) => {
  const { id, slug } = await made()
  const { body } = await control.call(acme.workspaceKey, 'POST', '/configs', {
    name: 'The config',
    config: { strategy: { mode: 'single' }, targets: [{ provider: '@p', input_guardrails: [slug] }] },
  })
  const remove = () => control.call(acme.workspaceKey, 'DELETE', `/guardrails/${id}`)
  const refused = await remove()
  t.is(refused.status, 409)
  t.like(errorOf(refused), { code: 'AB07' })
  t.regex(errorOf(refused).message, /config "The config"/)
  await control.call(acme.workspaceKey, 'DELETE', `/configs/${(body['data'] as { slug: string }).slug}`)
  for (const [table, column] of [
    ['workspaces', 'id'],
    ['organisations', 'id'],
  ] as const) {
    const owner = table === 'workspaces' ? acme.workspaceId : acme.organisationId
    await control.sql.query(`UPDATE ${table} SET defaults = $1 WHERE ${column} = $2`, [{ output_guardrails: [id] }, owner])
    t.regex(errorOf(await remove()).message, table === 'workspaces' ? /workspace "Main"/ : /organisation "acme"/)
    await control.sql.query(`UPDATE ${table} SET defaults = '{}' WHERE ${column} = $1`, [owner])
  }
  t.is((await remove()).status, 200)
  t.is((await read(id)).status, 404)
  t.is((await remove()).status, 404)
})

const chat = (content: string, key: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json', 'x-service-provider': '@p', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  })

test.serial('defaults of workspace and organisation, a change and an end count within a second', async (t) => {
  const { slug, id } = await made({ checks: forbids('alpha') })
  const everywhere = await made({ checks: forbids('beta') }, acme.adminKey)
  const defaults = (table: string, owner: string, guardrails: readonly string[]) =>
    control.sql.query(`UPDATE ${table} SET defaults = $1 WHERE id = $2`, [{ input_guardrails: guardrails }, owner])
  const status = async (content: string, key = acme.workspaceKey) => (await chat(content, key)).status
  t.is(await status('alpha'), 200)
  await defaults('workspaces', acme.workspaceId, [slug])
  await eventually(async () => (await status('alpha')) === 446, 1000, 'the default of the workspace')
  t.is(await status('beta'), 200)
  await defaults('organisations', acme.organisationId, [everywhere.id, slug])
  await eventually(async () => (await status('beta')) === 446, 1000, 'the default of the organisation')
  const both = (await (await chat('alpha beta', acme.workspaceKey)).json()) as { hook_results: { before_request_hooks: { id: string }[] } }
  t.deepEqual(
    both.hook_results.before_request_hooks.map((result) => result.id),
    [everywhere.slug, slug],
  )
  await control.call(acme.workspaceKey, 'PUT', `/guardrails/${id}`, { checks: forbids('gamma') })
  await eventually(async () => (await status('gamma')) === 446, 1000, 'the change')
  t.is(await status('alpha'), 200)
  await defaults('organisations', acme.organisationId, [])
  await defaults('workspaces', acme.workspaceId, [])
  await eventually(async () => (await status('beta gamma')) === 200, 1000, 'the end')
})

test.serial('a config names guardrails of its workspace and of the organisation', async (t) => {
  const everywhere = await made({ checks: forbids('delta') }, acme.adminKey)
  const config = {
    provider: '@p',
    input_guardrails: [everywhere.slug],
    output_guardrails: [{ 'default.contains': { words: ['emulator'], operator: 'none' }, deny: true }],
  }
  const { body } = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'guarded', config })
  const header = { 'x-service-config': (body['data'] as { slug: string }).slug }
  const denied = await chat('delta', acme.workspaceKey, header)
  t.is(denied.status, 446)
  const after = await chat('x', acme.workspaceKey, header)
  t.is(after.status, 446)
  await eventually(
    async () => {
      const { body: logs } = await control.call(acme.workspaceKey, 'GET', '/logs?page_size=2')
      return (logs['data'] as { response_status_code: number }[]).every((row) => row.response_status_code === 446)
    },
    5000,
    'the logs',
  )
})

const onlyAnswers = { checks: [{ id: 'default.notNull' }] }
const onlyRequests = { checks: [{ id: 'default.modelWhitelist', parameters: { models: ['m'] } }] }

test('a guardrail is not named where it would never run', async (t) => {
  const tenant = await control.createTenant('named')
  const [answers, requests] = [await made(onlyAnswers, tenant.adminKey), await made(onlyRequests, tenant.adminKey)]
  const both = await made({ checks: [...onlyAnswers.checks, ...onlyRequests.checks] }, tenant.adminKey)
  const workspace = `/admin/workspaces/${tenant.workspaceId}`
  const places: readonly (readonly [method: string, path: string, body: (lists: object) => object, param: string])[] = [
    ['PUT', workspace, (defaults) => ({ defaults }), 'defaults.'],
    ['POST', '/admin/workspaces', (defaults) => ({ name: 'w', defaults }), 'defaults.'],
    ['PUT', '/admin/organisation', (defaults) => ({ defaults }), 'defaults.'],
    ['PUT', '/admin/organisation/defaults', (lists) => lists, ''],
    ['POST', '/configs', (lists) => ({ name: 'c', workspace_id: tenant.workspaceId, config: lists }), 'config.'],
    [
      'POST',
      '/configs',
      (lists) => ({ name: 'c', workspace_id: tenant.workspaceId, config: { strategy: { mode: 'single' }, targets: [lists] } }),
      'config.targets[0].',
    ],
  ]
  for (const [method, path, body, param] of places) {
    const refused = [
      [{ input_guardrails: [both.slug, answers.slug] }, 'input_guardrails[1]'],
      [{ input_guardrails: [requests.id], output_guardrails: [requests.id] }, 'output_guardrails[0]'],
    ] as const
    for (const [lists, field] of refused) {
      const answer = await control.call(tenant.adminKey, method, path, body(lists))
      t.is(answer.status, 400, answer.text)
      t.like(errorOf(answer), { code: 'AB01', param: `${param}${field}` })
      t.regex(errorOf(answer).message, /None of its checks looks at/)
    }
    const taken = await control.call(
      tenant.adminKey,
      method,
      path,
      body({ input_guardrails: [both.id, requests.slug], output_guardrails: [both.slug, answers.id] }),
    )
    t.is(taken.status, 200, taken.text)
  }
})

test('a guardrail that is changed so that it would never run stops requests, and one that is switched off does not', async (t) => {
  const tenant = await control.createTenant('changed')
  await control.call(tenant.adminKey, 'POST', '/integrations', {
    name: 'p',
    slug: 'p',
    ai_provider_id: 'openai',
    key: 'sk-stored',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'p',
  })
  const { slug } = await made({ checks: forbids('epsilon') }, tenant.workspaceKey)
  const put = (checks: unknown) => control.call(tenant.adminKey, 'PUT', `/guardrails/${slug}`, { checks })
  await control.call(tenant.adminKey, 'PUT', `/admin/workspaces/${tenant.workspaceId}`, { defaults: { input_guardrails: [slug] } })
  const status = async () => (await chat('epsilon', tenant.workspaceKey)).status
  await eventually(async () => (await status()) === 446, 1000, 'the default')
  await put(onlyAnswers.checks)
  await eventually(async () => (await status()) === 400, 1000, 'the change')
  const said = (await (await chat('x', tenant.workspaceKey)).json()) as { error: { param: string; message: string } }
  t.is(said.error.param, 'guardrails')
  t.true(said.error.message.includes(slug), said.error.message)
  await put([...onlyAnswers.checks, { ...forbids('epsilon')[0], is_enabled: false }])
  await eventually(async () => (await status()) === 200, 1000, 'the end')
})

test('GUARDRAILS_ENABLED=OFF removes the routes', async (t) => {
  const app = await startApp({ env: { GUARDRAILS_ENABLED: 'OFF' } })
  const answer = await fetch(`${app.baseUrl}/v1/guardrails`, { headers: { 'x-service-api-key': app.adminKey } })
  t.is(answer.status, 404)
  t.like(((await answer.json()) as { error: object }).error, { code: 'feature_unavailable' })
  await app.stop()
  t.false(loadConfig({ GUARDRAILS_ENABLED: 'OFF' }).flags.GUARDRAILS_ENABLED)
  t.true(features.some(({ id, flag }) => id === 'guardrails' && flag === 'GUARDRAILS_ENABLED'))
})
