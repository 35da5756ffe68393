// Policies at run time: limits for requests that meet conditions, over two processes on one PostgreSQL.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let beside: string
let emulator: Emulator

/** gpt-4o: about a tenth of a dollar. */
const usage = { prompt_tokens: 10, completion_tokens: 10_000, total_tokens: 10_010 }
const answerOf = (model: unknown) => ({ model, choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  beside = await control.openBeside()
  emulator.script({ behaviour: ({ json }) => ({ body: JSON.stringify(answerOf(json['model'])) }) })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const withinMs = 15_000

type Fields = Readonly<Record<string, unknown>>

interface Sender {
  readonly key?: string
  readonly origin?: string
  readonly model?: string
  /** The bound of the body. */
  readonly fields?: object
}

const bounded = { max_tokens: 10_000 }

const ask = (metadata: Readonly<Record<string, string>>, { key, origin, model = 'gpt-4o', fields = bounded }: Sender = {}) =>
  send(`${origin ?? control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key ?? acme.workspaceKey,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'x-service-metadata': JSON.stringify(metadata),
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model, messages: [], ...fields }),
  })

async function make(kind: 'rate-limits' | 'usage-limits', body: object): Promise<string> {
  const made = await control.call(acme.adminKey, 'POST', `/policies/${kind}`, { workspace_id: acme.workspaceId, ...body })
  if (made.status !== 200) throw new Error(made.text)
  await control.refresh()
  return String(made.body['id'])
}

/** Asks until `count` have passed; returns the first refusal after them. */
async function passing(count: number, once: (at: number) => ReturnType<typeof ask>): Promise<Awaited<ReturnType<typeof ask>>> {
  let passed = 0
  let asked = 0
  await eventually(async () => {
    if ((await once(asked++)).status === 200) passed += 1
    return passed === count
  }, withinMs)
  return once(asked)
}

test('a rate policy counts each combination of its groups, over two processes, and only requests that meet its conditions', async (t) => {
  await make('rate-limits', {
    name: 'red team',
    conditions: [{ key: 'metadata.team', value: 'red' }],
    group_by: [{ key: 'metadata.person' }, { key: 'model' }],
    type: 'requests',
    unit: 'rph',
    value: 3,
  })
  const refused = await passing(3, (at) => ask({ team: 'red', person: 'ann' }, at % 2 === 0 ? {} : { origin: beside }))
  t.is(refused.status, 429, refused.text)
  t.regex(refused.text, /3 requests per hour of the policy red team for metadata\.person:ann\|model:gpt-4o\. Try again in/)
  t.is((await ask({ team: 'red', person: 'ann' }, { model: 'GPT-4o' })).status, 429, 'the same model in other letters')
  t.is((await ask({ team: 'red', person: 'bob' })).status, 200, 'another person')
  t.is((await ask({ team: 'red', person: 'ann' }, { model: 'gpt-4o-mini' })).status, 200, 'another model')
  t.is((await ask({ team: 'blue', person: 'ann' })).status, 200, 'another team')
  t.is((await ask({ team: 'red', person: 'ann' }, { key: acme.sideKey })).status, 200, 'another workspace')
  t.is((await ask({ team: 'red', person: 'ann' }, { key: other.workspaceKey })).status, 200, 'another organisation')
})

test('a usage policy refuses what a budget of its group does not cover; raised, reset and archived it opens within a second', async (t) => {
  const id = await make('usage-limits', {
    name: 'green',
    conditions: [
      { key: 'metadata.kind', value: ['paid', 'costly'] },
      { key: 'metadata.team', value: '*', excludes: ['lime'] },
      { key: 'model', value: '*' },
    ],
    group_by: [{ key: 'metadata.person' }],
    type: 'cost',
    credit_limit: 0.25,
  })
  const green = () => ask({ kind: 'paid', team: 'green', person: 'ann' })
  const refused = await passing(2, green)
  t.is(refused.status, 412, refused.text)
  t.like(JSON.parse(refused.text), { error: { code: '04' } })
  t.regex(refused.text, /of \$0\.25 of the policy green for metadata\.person:ann do not cover/)
  t.is((await ask({ kind: 'paid', team: 'lime', person: 'ann' })).status, 200, 'excluded')
  t.is((await ask({ kind: 'costly', person: 'bob' })).status, 200)
  const raised = await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { credit_limit: 0.35 })
  t.is(raised.status, 200, raised.text)
  const listed = async () => {
    const { body } = await control.call(acme.adminKey, 'GET', '/limits?owner_kind=policy&kind=usage&page_size=1000')
    return (body['data'] as Fields[]).find(({ owner_id: of, group }) => of === id && group === 'metadata.person:ann')
  }
  t.like(await listed(), { limit: 0.35 }, 'before a request meets the new bound')
  await eventually(async () => (await green()).status === 200, withinMs)
  await eventually(async () => (await green()).status === 412, withinMs)
  const { body: entities } = await control.call(acme.adminKey, 'GET', `/policies/usage-limits/${id}/entities?search=ann`)
  const [ann] = entities['data'] as Fields[]
  const reset = await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}/entities/${String(ann?.['id'])}/reset`)
  t.is(reset.status, 200, reset.text)
  t.like(await listed(), { limit: 0.35, spent: 0, state: 'ok' }, 'before a request is counted since the reset')
  await eventually(async () => (await green()).status === 200, withinMs)
  await eventually(async () => ((await listed())?.['spent'] as number) > 0, withinMs)
  t.is((await control.call(acme.adminKey, 'DELETE', `/policies/usage-limits/${id}`)).status, 200)
  await eventually(async () => (await green()).status === 200, withinMs)
})

/** A policy of $1 for the requests of one team. */
const moneyPolicy = (team: string, terms: object) =>
  make('usage-limits', {
    name: team,
    conditions: [{ key: 'metadata.team', value: team }],
    group_by: [{ key: 'metadata.team' }],
    type: 'cost',
    credit_limit: 1,
    ...terms,
  })

const readPolicy = async (id: string) => (await control.call(acme.adminKey, 'GET', `/policies/usage-limits/${id}`)).body
const unpriced = { model: 'nobody-prices-this' }

test('a model without a price passes where a policy says so, marked as unpriced, in every process within a second', async (t) => {
  const id = await moneyPolicy('white', {})
  const refused = await ask({ team: 'white' }, unpriced)
  t.is(refused.status, 412, refused.text)
  t.like(JSON.parse(refused.text), { error: { code: '04', reason: 'unpriced_model' } })
  t.regex(refused.text, /has no price, and \$1 of the policy white for metadata\.team:white lets no request through.*on_unpriced/)
  t.like(await readPolicy(id), { on_unpriced: 'deny', output_policy: 'typical' })
  t.is((await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { on_unpriced: 'allow' })).status, 200)
  const changedAt = performance.now()
  await Promise.all(
    [control.origin, beside].map(async (origin) => {
      await eventually(async () => (await ask({ team: 'white' }, { ...unpriced, origin })).status === 200, withinMs)
      t.true(performance.now() - changedAt < 3000, 'a second, and what a busy machine takes')
    }),
  )
  t.like(await readPolicy(id), { on_unpriced: 'allow', output_policy: 'typical' })
  let logged: unknown
  await eventually(async () => {
    const found = await control.call(acme.adminKey, 'GET', `/logs?workspace_id=${acme.workspaceId}&ai_model=nobody-prices-this`)
    const logs = found.body['data'] as readonly { readonly response_status_code: number }[] | undefined
    logged = logs?.find(({ response_status_code: code }) => code === 200)
    return logged !== undefined
  }, withinMs)
  t.like(logged, { cost_state: 'unpriced', cost: null })
  const limited = { name: 'limited', workspace_id: acme.workspaceId, scopes: ['completions.write'], usage_limits: { credit_limit: 5 } }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', limited)
  const both = await ask({ team: 'white' }, { ...unpriced, key: String(made.body['key']) })
  t.is(both.status, 412, 'a budget of the key that refuses such models still does')
  t.regex(both.text, /\$5 of the API key lets no request through/)
})

/** Eight answers that name no bound: `typical` expects 1,024 tokens of each, `strict` the 16,384 that gpt-4o can give. */
for (const [output_policy, status, says, sent] of [
  ['typical', 200, /"gpt-4o"/, undefined],
  ['strict', 412, /may use \$1\.3/, undefined],
  ['inject', 200, /"gpt-4o"/, 1024],
] as const)
  test(`a policy that reserves what is ${output_policy}`, async (t) => {
    const id = await moneyPolicy(`reserves-${output_policy}`, { output_policy })
    t.like(await readPolicy(id), { output_policy, on_unpriced: 'deny' })
    // The usual amount is kept by key and model.
    const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['completions.write'] })
    const answered = await ask({ team: `reserves-${output_policy}` }, { key, fields: { n: 8, user: output_policy } })
    t.is(answered.status, status, answered.text)
    t.regex(answered.text, says)
    const arrived = emulator.requests.find(({ json }) => json['user'] === output_policy)
    t.is(arrived?.json['max_completion_tokens'], sent)
    t.is(arrived === undefined, status === 412)
  })

test('callers cannot choose metadata that meets the counter of others', async (t) => {
  await make('rate-limits', {
    conditions: [{ key: 'metadata.a', value: '*' }],
    group_by: [{ key: 'metadata.a' }, { key: 'metadata.b' }],
    type: 'requests',
    unit: 'rpm',
    value: 1,
  })
  const joined = await passing(1, () => ask({ a: 'x|metadata.b:y', b: 'z' }))
  t.is(joined.status, 429, joined.text)
  t.is((await ask({ a: 'x', b: 'y|metadata.b:z' })).status, 200, 'another group, whose parts join to the same text')
  for (const a of ['nul \0', 'half a letter \uD800']) {
    const refused = await passing(1, () => ask({ a, b: 'z' }))
    t.is(refused.status, 429, 'what the database cannot write is counted too')
  }
})

test('amounts that a counter cannot be held to are refused by field', async (t) => {
  const policy = { conditions: [{ key: 'model', value: 'gpt-4.1-nano' }], group_by: [{ key: 'model' }], workspace_id: acme.workspaceId }
  for (const [body, param, says] of [
    [{ type: 'cost', credit_limit: 1e-10 }, 'credit_limit', /at most nine digits behind the point/],
    [{ type: 'cost', credit_limit: 1, alert_threshold: 0.1234567891 }, 'alert_threshold', /at most nine digits/],
    [{ type: 'tokens', credit_limit: 1.5 }, 'credit_limit', /a whole number of tokens/],
    [{ type: 'tokens', credit_limit: 8, alert_threshold: 9 }, 'alert_threshold', /at most credit_limit, which is 8; it is 9/],
    [{ type: 'requests', credit_limit: 2, alert_threshold: 1.5 }, 'alert_threshold', /a whole number of requests/],
  ] as const) {
    const made = await control.call(acme.adminKey, 'POST', '/policies/usage-limits', { ...policy, ...body })
    t.is(made.status, 400, made.text)
    t.like(made.body, { error: { code: 'AB01', param } })
    t.regex(made.text, says)
  }
  const id = await make('usage-limits', { ...policy, type: 'cost', credit_limit: 0.000000001 })
  t.is((await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { credit_limit: 0.00000000015 })).status, 400)
  t.is((await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { credit_limit: 12_345_678.123456789 })).status, 200)
})

test('terms of money that no policy can have are refused by field, with the words that it may have', async (t) => {
  const group_by = [{ key: 'model' }]
  const policy = { conditions: [{ key: 'model', value: 'gpt-4.1-nano' }], group_by, credit_limit: 5, workspace_id: acme.workspaceId }
  for (const [terms, says] of [
    [{ type: 'cost', on_unpriced: 'maybe' }, /on_unpriced.*deny.*allow/],
    [{ type: 'cost', output_policy: 'worst' }, /output_policy.*typical.*strict.*inject/],
    [{ type: 'tokens', on_unpriced: 'allow' }, /on_unpriced is for limits of the type cost; this one counts tokens/],
    [{ type: 'requests', output_policy: 'strict' }, /output_policy is for limits of the type cost; this one counts requests/],
  ] as const) {
    const made = await control.call(acme.adminKey, 'POST', '/policies/usage-limits', { ...policy, ...terms })
    t.is(made.status, 400, made.text)
    t.regex(made.text, says)
    t.true((JSON.parse(made.text) as { error: { param: string } }).error.param in terms, made.text)
  }
  const id = await make('usage-limits', { ...policy, type: 'tokens' })
  t.like(await readPolicy(id), { on_unpriced: null, output_policy: null })
  const change = (terms: object) => control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, terms)
  t.is((await change({ output_policy: 'inject' })).status, 400)
  t.is((await change({ on_unpriced: null, output_policy: null })).status, 200, 'what a read showed can be written')
})

test('a change of how a policy treats unknown costs is in the audit trail', async (t) => {
  const id = await moneyPolicy('audited', { on_unpriced: 'allow' })
  t.is(
    (await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { on_unpriced: 'deny', output_policy: 'strict' })).status,
    200,
  )
  const { rows } = await control.sql.query<{ before: object; after: object }>(
    `SELECT before, after FROM audit_logs WHERE resource_id = $1 AND action = 'update'`,
    [id],
  )
  t.like(rows, [{ before: { on_unpriced: 'allow', output_policy: null }, after: { on_unpriced: 'deny', output_policy: 'strict' } }])
})

test('a policy for models of a provider fits them by pattern, and one for a key only this key', async (t) => {
  await make('rate-limits', {
    conditions: [{ key: 'model', value: ['@none/*', 'gpt-4.1'] }],
    group_by: [{ key: 'workspace_id' }],
    type: 'requests',
    unit: 'rpd',
    value: 0,
  })
  t.is((await ask({}, { model: 'gpt-4.1' })).status, 429)
  t.is((await ask({}, { model: 'gpt-4.1-mini' })).status, 200)
})

const multipart = (...fields: readonly (readonly [name: string, value: string])[]) =>
  `${fields.map(([name, value]) => `--b\r\ncontent-disposition: form-data; ${name}\r\n\r\n${value}\r\n`).join('')}--b--\r\n`
const recording = ['name="file"; filename="a.wav"', 'RIFF'] as const
const formType = 'multipart/form-data; boundary=b'
const jsonType = 'application/json'
const urlType = 'application/x-www-form-urlencoded'

/** Ways to name the model `dear`, on a path with a body of a type. */
const namings: readonly (readonly [path: string, type: string, body: string, status?: number])[] = [
  ['/audio/transcriptions', formType, multipart(['name="model"', 'dear'], recording)],
  ['/audio/transcriptions', formType, multipart(['name="model"', 'cheap'], ['name="model"', 'dear'], recording), 400],
  ['/audio/transcriptions', formType, multipart(["name*=UTF-8''model", 'dear'], recording), 400],
  ['/images/edits', formType, multipart(['name="model"', 'DEAR'])],
  ['/some/echo', formType, multipart(['name="model"', 'dear'])],
  ['/audio/transcriptions', urlType, 'model=dear'],
  ['/chat/completions', jsonType, '{"model":"cheap","models":["dear"],"messages":[]}'],
  ['/chat/completions', jsonType, '{"model":"cheap","Model":"dear","messages":[]}'],
  ['/chat/completions', jsonType, '{"Model":"dear","messages":[]}'],
  ['/chat/completions', jsonType, '{"model":"cheap","provider_options":{"openai":{"fallbacks":[{"model":"dear"}]}},"messages":[]}'],
  ['/chat/completions', jsonType, '{"model":"cheap","extra_body":{"models":["dear"]},"messages":[]}'],
  ['/chat/completions', jsonType, '{"model":"cheap","preset":"mine","messages":[]}', 403],
  ['/chat/completions?model=dear', jsonType, '{"messages":[]}'],
  ['/chat/completions', 'text/plain', '{"model":"dear","messages":[]}', 415],
  ['/some/echo', 'application/octet-stream', ' [{"model":"dear"}]', 415],
  ['/messages/batches', jsonType, '{"requests":[{"custom_id":"a","params":{"model":"dear"}}]}'],
  ['/chat/completions', jsonType, '{"model":"dear","model":"cheap","messages":[]}', 400],
  ['/chat/completions', jsonType, '{"model":"cheap","model":"dear","messages":[]}', 400],
]

const named = (path: string, type: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  send(`${control.origin}/v1${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': acme.sideKey,
      'content-type': type,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
      ...headers,
    },
    body,
  })

test('policies by model see it wherever a request names it, and count it as the model that meets their conditions', async (t) => {
  const policy = { workspace_id: acme.sideId, conditions: [{ key: 'model', value: 'dear' }], type: 'requests' }
  for (const [path, type, body] of namings) t.not((await named(path, type, body)).status, 429, `${path} ${body}`)
  await make('rate-limits', { ...policy, group_by: [{ key: 'model' }], unit: 'rpd', value: 1 })
  t.is((await named('/audio/transcriptions', formType, multipart(['name="model"', 'cheap'], recording))).status, 200)
  const refused = await passing(1, () => named('/chat/completions', jsonType, '{"model":"dear","messages":[]}'))
  t.is(refused.status, 429, refused.text)
  for (const [path, type, body, status = 429] of namings) {
    const answer = await named(path, type, body)
    t.is(answer.status, status, `${path} ${body} ${answer.text}`)
    if (status === 429) t.regex(answer.text, /for model:dear\. /)
  }
  const sealed = await named('/audio/transcriptions', formType, multipart(['name="model"', 'dear']), { 'content-encoding': 'gzip' })
  t.is(sealed.status, 415, sealed.text)
  const odd = await named('/chat/completions', jsonType, '{"model":"dear","messages":[]}', { 'content-encoding': 'odd' })
  t.is(odd.status, 415, odd.text)
  const many = JSON.stringify({ requests: Array.from({ length: 101 }, (_, at) => ({ params: { model: `m${at}` } })) })
  t.is((await named('/messages/batches', jsonType, many)).status, 400)
  t.is((await named('/chat/completions', jsonType, '{"model":"cheap","messages":[]}')).status, 200)
  const rare = { ...policy, conditions: [{ key: 'model', value: 'rare' }], group_by: [{ key: 'api_key' }], credit_limit: 1 }
  await make('usage-limits', rare)
  const spent = await passing(1, () => named('/images/edits', formType, multipart(['name="model"', 'rare'])))
  t.is(spent.status, 412, spent.text)
})

const keysOfIds = ['api_key', 'workspace_id', 'organisation_id', 'virtual_key', 'provider', 'config', 'prompt', 'model'] as const

for (const kind of ['rate-limits', 'usage-limits'] as const)
  test(`ids in conditions of ${kind} are stored in small letters, but for those in metadata`, async (t) => {
    const [one, two] = ['0191B2C3-D4E5-7F60-8A9B-ABCDEFABCDEF', '0191B2C3-D4E5-7F60-8A9B-ABCDEFABCDEE']
    const [small, smallToo] = [one.toLowerCase(), two.toLowerCase()]
    const conditions = [...keysOfIds, 'metadata.id'].map((key) => ({
      key,
      value: [one, 'x'].slice(0, key === 'api_key' || key === 'organisation_id' ? 1 : 2),
      excludes: two,
    }))
    const terms = kind === 'rate-limits' ? { type: 'requests', unit: 'rpm', value: 1 } : { type: 'tokens', credit_limit: 1 }
    const id = await make(kind, { name: 'ids', conditions, group_by: [{ key: 'api_key' }], ...terms })
    const { body } = await control.call(acme.adminKey, 'GET', `/policies/${kind}/${id}`)
    const wanted = conditions.map(({ key, value, excludes }) =>
      key === 'metadata.id' ? { key, value, excludes } : { key, value: [small, ...value.slice(1)], excludes: smallToo },
    )
    t.deepEqual(body['conditions'], wanted)
    const twice = {
      workspace_id: acme.workspaceId,
      conditions: [{ key: 'prompt', value: [one, small] }],
      group_by: [{ key: 'api_key' }],
      ...terms,
    }
    t.is((await control.call(acme.adminKey, 'POST', `/policies/${kind}`, twice)).status, 400)
  })

test('a condition whose id was stored in capital letters is met', async (t) => {
  const tenant = await control.createTenant('capitals')
  const { rows } = await control.sql.query<{ id: string }>(`SELECT id FROM api_keys WHERE workspace_id = $1`, [tenant.workspaceId])
  await control.sql.query(
    `INSERT INTO rate_limit_policies (id, organisation_id, workspace_id, conditions, group_by, type, unit, value)
     VALUES (gen_random_uuid(), $1, $2, jsonb_build_array(jsonb_build_object('key', 'api_key', 'value', upper($3))), '[{"key":"api_key"}]', 'requests', 'rpd', 1)`,
    [tenant.organisationId, tenant.workspaceId, rows[0]?.id],
  )
  await control.refresh()
  t.is((await passing(1, () => ask({}, { key: tenant.workspaceKey }))).status, 429)
})

test('POLICY_ENABLED=OFF takes policies out at run time', async (t) => {
  const off = await startControl({}, { POLICY_ENABLED: 'OFF' })
  t.teardown(() => off.close())
  const tenant = await off.createTenant('acme')
  await off.sql.query(
    `INSERT INTO rate_limit_policies (id, organisation_id, workspace_id, conditions, group_by, type, unit, value)
     VALUES (gen_random_uuid(), $1, $2, '[{"key":"model","value":"*"}]', '[{"key":"model"}]', 'requests', 'rpd', 0)`,
    [tenant.organisationId, tenant.workspaceId],
  )
  await off.refresh()
  t.is((await ask({}, { key: tenant.workspaceKey, origin: off.origin })).status, 200)
})
