import test from 'ava'
import { gzipSync } from 'node:zlib'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper, type Shipper } from '../../../src/app/journal/shipper.ts'
import type { ExchangeBodies, ExchangeRecord } from '../../../src/gateway/ports.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { inTenant } from '../../../src/app/database/orm.ts'
import { writeCursor } from '../../../src/features/logs/cursor.ts'
import { dropPartitions, keepPartitions } from '../../../src/features/logs/logs.jobs.ts'
import { silent } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant

const t0 = Date.UTC(2026, 2, 1, 23, 59, 0)

const directory = temporaryDirectory()
const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
let shipper: Shipper

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  const { database } = control.started.deps.config
  const { runtime } = await connect(database, silent)
  shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent })
})
test.after.always(async () => {
  await journal.close()
  await shipper.stop()
  directory.remove()
  await control.close()
})

type Exchange = readonly [Partial<ExchangeRecord>, ExchangeBodies?]

/** Writes exchanges the way the gateway does. */
async function log(tenant: Tenant, exchanges: readonly Exchange[]): Promise<readonly ExchangeRecord[]> {
  const records = exchanges.map(([fields, bodies = exchangeBodies('{"q":1}', '{"a":2}')]) => {
    const record = exchangeRecord({ organisationId: tenant.organisationId, workspaceId: tenant.workspaceId, ...fields })
    journal.append(record, bodies)
    return record
  })
  await shipper.flushed()
  return records
}

const list = (key: string, query: Record<string, string>) => control.call(key, 'GET', `/logs?${new URLSearchParams(query).toString()}`)
const ids = (body: Readonly<Record<string, unknown>>) => (body['data'] as { id: string }[]).map(({ id }) => id)

test('pages of a list hold every log once, across days, in both directions', async (t) => {
  const traceId = 'paged'
  // Two logs a minute over midnight; some of the same millisecond.
  const records = await log(
    acme,
    Array.from({ length: 25 }, (_, index) => [{ traceId, createdAt: t0 + Math.floor(index / 3) * 20_000 }]),
  )
  for (const order of ['asc', 'desc'] as const) {
    const seen: string[] = []
    for (let after: string | null = ''; after !== null;) {
      const { status, body } = await list(acme.adminKey, { trace_id: traceId, page_size: '4', order, ...(after !== '' && { after }) })
      t.is(status, 200)
      t.is(body['has_more'], body['next_cursor'] !== null)
      seen.push(...ids(body))
      after = body['next_cursor'] as string | null
    }
    const expected = records.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
    t.deepEqual(seen, order === 'asc' ? expected : expected.toReversed())
  }
})

test('a log in a list has its figures and no bodies or headers', async (t) => {
  const [record] = await log(acme, [[{ traceId: 'one', createdAt: t0, metadata: { _user: 'ada' }, durationMs: 12.6 }]])
  const { body } = await list(acme.workspaceKey, { trace_id: 'one' })
  t.deepEqual(body, {
    object: 'list',
    has_more: false,
    next_cursor: null,
    search: null,
    total: null,
    data: [
      {
        object: 'log',
        id: record?.id,
        organisation_id: acme.organisationId,
        workspace_id: acme.workspaceId,
        workspace_slug: 'main',
        created_at: '2026-03-01T23:59:00.000Z',
        is_success: true,
        ai_org: 'openai',
        ai_model: 'gpt-4o-mini',
        virtual_key: 'openai-main',
        api_key_id: record?.apiKeyId,
        api_key_name: null,
        user_id: null,
        user_name: null,
        provider_name: null,
        prompt_id: null,
        prompt_version_id: null,
        prompt_slug: null,
        req_units: 12,
        res_units: 30,
        total_units: 42,
        usage_source: 'provider',
        cost: null,
        cost_pico_usd: null,
        total_cost_pico_usd: null,
        cost_state: null,
        cost_currency: 'USD',
        request_url: '/v1/chat/completions',
        request_method: 'POST',
        operation: 'chat_completions',
        is_proxy_call: false,
        response_status_code: 200,
        outcome: 'complete',
        error_code: null,
        response_time: 13,
        upstream_response_time: 11,
        time_to_first_byte: 12,
        stream_mode: 0,
        cache_status: 'DISABLED',
        cache_type: null,
        guardrail: null,
        attempts: { count: 1, last: 'config' },
        config: null,
        retry_success_count: 0,
        log_store_file_path_format: null,
        last_used_option: 'config',
        cached_log_id: null,
        mirror_of: null,
        is_billed: true,
        config_slug: null,
        config_version: null,
        trace_id: 'one',
        span_id: null,
        parent_span_id: null,
        span_name: null,
        'metadata.key': ['_user'],
        'metadata.value': ['ada'],
        client_ip: '192.0.2.7',
        request_bytes: 20,
        response_bytes: 40,
      },
    ],
  })
})

const filtered = test.macro({
  async exec(t, name: string, query: Record<string, string>, expected: readonly string[]) {
    const label = `filter-${name}`
    const usage = { inputTokens: 5, outputTokens: 6, totalTokens: 11, cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: null }
    const base = { createdAt: t0, metadata: { label } }
    const records = await log(acme, [
      [{ ...base, traceId: 'a', status: 200, model: 'm1', metadata: { label, env: 'prod', team: "o'hara ?" } }],
      [
        {
          ...base,
          traceId: 'b',
          createdAt: t0 + 1,
          status: 429,
          errorCode: 'rate_limited',
          provider: 'anthropic',
          providerSlug: 'claude',
          usage: null,
        },
      ],
      [{ ...base, traceId: 'c', status: 500, outcome: 'error', createdAt: t0 + 86_400_000, usage }],
    ])
    const metadata = JSON.stringify({ label, ...(query['metadata'] !== undefined && (JSON.parse(query['metadata']) as object)) })
    const { status, text, body } = await list(acme.workspaceKey, { ...query, order: 'asc', metadata })
    t.is(status, 200, text)
    t.deepEqual(
      ids(body).map((id) => records.find((record) => record.id === id)?.traceId),
      [...expected],
    )
  },
  title: (_, name: string) => `filter: ${name}`,
})

test(filtered, 'none', {}, ['a', 'b', 'c'])
test(filtered, 'status_code', { status_code: '429,500' }, ['b', 'c'])
test(filtered, 'ai_org', { ai_org: 'anthropic' }, ['b'])
test(filtered, 'ai_model', { ai_model: 'm1, m2' }, ['a'])
test(filtered, 'virtual_keys', { virtual_keys: 'claude' }, ['b'])
test(filtered, 'trace_id', { trace_id: 'c' }, ['c'])
test(filtered, 'time_min', { time_of_generation_min: '2026-03-02T00:00:00Z' }, ['c'])
test(filtered, 'time_max', { time_of_generation_max: '2026-03-02T01:00:00+01:00' }, ['a', 'b'])
test(filtered, 'total_units', { total_units_min: '11', total_units_max: '11' }, ['c'])
test(filtered, 'prompt_token', { prompt_token_min: '6' }, ['a'])
test(filtered, 'completion_token', { completion_token_max: '6' }, ['c'])
test(filtered, 'metadata', { metadata: '{"team":"o\'hara ?","env":"prod"}' }, ['a'])
test(filtered, 'is_success', { is_success: 'true' }, ['a'])
test(filtered, 'not is_success', { is_success: 'false' }, ['b', 'c'])
test(filtered, 'none of several models', { ai_model_not: 'm1' }, ['b', 'c'])
test(filtered, 'none of several statuses', { status_code_not: '200,429' }, ['c'])
test(filtered, 'error_code', { error_code: 'rate_limited' }, ['b'])
test(filtered, 'no such error_code', { error_code_not: 'rate_limited' }, ['a', 'c'])
test(filtered, 'outcome', { outcome: 'error,client_closed' }, ['c'])
test(filtered, 'operation', { operation: 'embeddings' }, [])
test(filtered, 'stream', { stream: 'false', status_code: '200' }, ['a'])
test(filtered, 'response_time', { response_time_min: '12', response_time_max: '13', ai_model: 'm1' }, ['a'])
test(filtered, 'values of a key of metadata', { metadata: '{"env":["prod","test"]}' }, ['a'])
test(filtered, 'metadata_keys', { metadata_keys: 'team,env' }, ['a'])
test(filtered, 'api_key_ids', { api_key_ids: '01980000-0000-7000-8000-0000000000ff' }, [])

const refused = test.macro({
  async exec(t, query: Record<string, string>, param: string) {
    const { status, body } = await list(acme.adminKey, query)
    t.is(status, 400)
    t.like(body, { error: { code: 'AB01', param } })
  },
  title: (_, query) => `refused: ${JSON.stringify(query)}`,
})

test(refused, { page_size: '0' }, 'page_size')
test(refused, { page_size: '1001' }, 'page_size')

test('a page of logs may be as long as that of any list', async (t) => {
  t.is((await list(acme.adminKey, { page_size: '1000' })).status, 200)
})

test(refused, { after: 'bm9uc2Vuc2U' }, 'after')
test(refused, { status_code: '99' }, 'status_code[0]')
test(refused, { metadata: '[1' }, 'metadata')
test(refused, { time_of_generation_min: 'yesterday' }, 'time_of_generation_min')
test(refused, { current_page: '2' }, 'current_page')
test(refused, { api_key_ids: 'x' }, 'api_key_ids[0]')
test(refused, { outcome: 'won' }, 'outcome[0]')
test(refused, { guardrail: 'maybe' }, 'guardrail[0]')
test(refused, { metadata: '{"env":[]}' }, 'metadata.env')

test('whose logs a key sees', async (t) => {
  const traceId = 'tenancy'
  const [main, side, none] = await log(acme, [
    [{ traceId, createdAt: t0 }],
    [{ traceId, createdAt: t0 + 1, workspaceId: acme.sideId }],
    [{ traceId, createdAt: t0 + 2, workspaceId: null }],
  ])
  const [foreign] = await log(other, [[{ traceId, createdAt: t0 + 3 }]])
  const seen = async (key: string, query = {}) => ids((await list(key, { trace_id: traceId, order: 'asc', ...query })).body)
  t.deepEqual(await seen(acme.adminKey), [main?.id, side?.id, none?.id])
  t.deepEqual(await seen(acme.adminKey, { workspace_id: 'side' }), [side?.id])
  t.deepEqual(await seen(acme.adminKey, { workspace_id: acme.workspaceId }), [main?.id])
  t.deepEqual(await seen(acme.sideKey), [side?.id])
  t.deepEqual(await seen(other.adminKey), [foreign?.id])
  t.like((await list(acme.sideKey, { workspace_id: 'main' })).body, { error: { code: 'AB03' } })
  t.like((await list(acme.adminKey, { workspace_id: other.workspaceId })).body, { error: { code: 'AB08' } })

  const statuses = await Promise.all(
    [acme.adminKey, acme.workspaceKey, acme.sideKey, other.adminKey].map(
      async (key) => (await control.call(key, 'GET', `/logs/${side?.id}`)).status,
    ),
  )
  t.deepEqual(statuses, [200, 404, 200, 404])
})

test('row-level security hides logs even from a query that forgets the tenant', async (t) => {
  const [record] = await log(acme, [[{ createdAt: t0 }]])
  const found = (organisationId: string) =>
    inTenant(control.started.deps.orm, organisationId, (em) => em.execute('SELECT 1 FROM logs WHERE id = ?', [record?.id]))
  t.is((await found(acme.organisationId)).length, 1)
  t.is((await found(other.organisationId)).length, 0)
})

test('scopes are demanded', async (t) => {
  const [record] = await log(acme, [[{ createdAt: t0 }]])
  const lister = await control.createKey(acme, { scopes: ['logs.list'] })
  const viewer = await control.createKey(acme, { scopes: ['logs.view'] })
  const statuses = [
    (await list(lister, {})).status,
    (await control.call(lister, 'GET', `/logs/${record?.id}`)).status,
    (await list(viewer, {})).status,
    (await control.call(viewer, 'GET', `/logs/${record?.id}`)).status,
  ]
  t.deepEqual(statuses, [200, 403, 403, 200])
})

test('what is not there', async (t) => {
  for (const id of [
    'nonsense',
    '019c0000-0000-7000-8000-000000000000',
    '6f1c1b3e-6a0f-4c9e-8e0f-1f3f1c1b3e6a',
    'ffffffff-ffff-7fff-bfff-ffffffffffff',
    '%00',
  ]) {
    const { status, body } = await control.call(acme.adminKey, 'GET', `/logs/${id}`)
    t.is(status, 404, id)
    t.like(body, { error: { code: 'AB08' } })
  }
})

test('cursors of impossible times are pages like others', async (t) => {
  for (const createdAt of [0, 999_999_999_999_999]) {
    const after = writeCursor({ createdAt, id: '019c0000-0000-7000-8000-000000000000' })
    t.is((await list(acme.adminKey, { after })).status, 200)
  }
})

test('the cost of a log, line by line', async (t) => {
  const line = { attempt: 0, dimension: 'input', count: 3, unit: 'token', source: 'built_in', note: null }
  const charge = { attempt: 0, provider: 'openai', sent: 'gpt-4o', answered: null, priced: 'gpt-4o', recalled: false, counts: { input: 3 } }
  const cost = {
    state: 'partly_priced' as const,
    amount: '7500001',
    catalogue: 'feed',
    saved: null,
    lines: [{ ...line, rate: '2500000', amount: '7500001' }],
    unpriced: ['web_search'],
    charges: [
      {
        ...charge,
        facts: null,
        reported: null,
        estimated: false,
        inconsistent: false,
        usage: { prompt_tokens: 3 },
        slug: null,
        skipped: false,
      },
    ],
  }
  const [record] = await log(acme, [[{ createdAt: t0, traceId: 'cost', cost }]])
  const expected = {
    object: 'log.cost',
    log_id: record?.id,
    state: 'partly_priced',
    currency: 'USD',
    cost_pico_usd: '7500001',
    saved_pico_usd: null,
    lines: [{ ...line, rate_pico_usd: '2500000', amount_pico_usd: '7500001' }],
    unpriced: ['web_search'],
    catalogue: 'feed',
    usage: [{ attempt: 0, provider: 'openai', model: 'gpt-4o', inconsistent: false, usage: { prompt_tokens: 3 } }],
    budgets: [],
    total_pico_usd: '7500001',
    adjustments: [],
  }
  const { status, body } = await control.call(acme.workspaceKey, 'GET', `/logs/${record?.id}/cost`)
  t.is(status, 200)
  t.deepEqual(body, expected)
  t.like((await control.call(acme.workspaceKey, 'GET', `/logs/${record?.id}`)).body, { cost: expected })
  t.like((await list(acme.workspaceKey, { trace_id: 'cost' })).body, { data: [{ cost: 0.000_750_000_1, cost_pico_usd: '7500001' }] })
  t.is((await control.call(acme.sideKey, 'GET', `/logs/${record?.id}/cost`)).status, 404)
})

test('a log is read with its bodies', async (t) => {
  const answer = JSON.stringify({ choices: ['ä'.repeat(2000)] })
  const [record] = await log(acme, [
    [
      { createdAt: t0, responseHeaders: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, spanName: 'x' },
      { request: Buffer.from('{"q":"ü"}'), response: gzipSync(answer), requestTruncated: false, responseTruncated: false },
    ],
  ])
  const { status, body } = await control.call(acme.workspaceKey, 'GET', `/logs/${record?.id}`)
  t.is(status, 200)
  t.like(body, {
    _id: record?.id,
    object: 'log',
    organisation_id: acme.organisationId,
    created_at: '2026-03-01T23:59:00.000Z',
    request: {
      url: 'https://api.openai.com/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { q: 'ü' },
      body_encoding: 'json',
      body_truncated: false,
    },
    response: {
      status: 200,
      responseTime: 13,
      lastUsedOptionJsonPath: 'config',
      body: JSON.parse(answer) as unknown,
      body_encoding: 'json',
    },
    log_format: 'v1',
  })
  t.like(body['metrics'], { id: record?.id, span_name: 'x', total_units: 42 })
})

test('a row of a list names its key, person and provider, and tells attempts, config and guardrails', async (t) => {
  const userId = await control.createUser(acme, { email: 'named@acme.example', workspaces: {} })
  await control.sql.query(`UPDATE users SET first_name = 'Ada', last_name = 'Lovelace' WHERE id = $1`, [userId])
  const key = await control.sql.query<{ id: string; name: string }>('SELECT id, name FROM api_keys WHERE workspace_id = $1 LIMIT 1', [
    acme.workspaceId,
  ])
  const attempt = {
    option: 'config.targets[0]',
    provider: 'openai',
    providerSlug: 'p',
    model: 'm',
    status: 500,
    failure: null,
    error: null,
    startMs: 0,
    durationMs: 1,
    responseBytes: 1,
    usage: null,
  }
  const hook = {
    verdict: false,
    deny: true,
    id: 'g',
    name: 'g',
    transformed: false,
    checks: [],
    feedback: null,
    execution_time: 1,
    async: false,
    type: 'guardrail' as const,
    created_at: '',
  }
  await log(acme, [
    [
      {
        traceId: 'named',
        createdAt: t0,
        apiKeyId: key.rows[0]?.id ?? '',
        userId,
        config: { slug: 'c', version: 3 },
        attempts: [attempt, attempt],
        hooks: { before_request_hooks: [hook], after_request_hooks: [{ ...hook, verdict: true }] },
      },
    ],
  ])
  const { body } = await list(acme.workspaceKey, { trace_id: 'named', guardrail: 'denied', user_id: userId })
  t.like(body, {
    data: [
      {
        api_key_name: key.rows[0]?.name,
        user_name: 'Ada Lovelace',
        guardrail: 'denied',
        attempts: { count: 2, last: 'config' },
        config: { slug: 'c', version: 3 },
      },
    ],
  })
  t.deepEqual((await list(acme.workspaceKey, { trace_id: 'named', guardrail: 'passed' })).body['data'], [])
})

test.serial('partitions are made ahead and dropped after the retention', async (t) => {
  const { deps } = control.started
  await control.sql.query(`SELECT ensure_log_partitions('2020-01-01')`)
  const then = { ...deps, clock: { now: () => Date.UTC(2026, 5, 30, 12) }, config: { ...deps.config, logRetentionDays: 365 } }
  await keepPartitions.run(then)
  await dropPartitions.run(then)
  const { rows } = await control.sql.query<{ name: string }>(`SELECT inhrelid::regclass::text AS name FROM pg_inherits ORDER BY 1`)
  const names = new Set(rows.map(({ name }) => name))
  for (const made of ['logs_20260630', 'logs_20260701', 'log_bodies_20260701']) t.true(names.has(made), made)
  for (const dropped of ['logs_20200101', 'log_bodies_20200101']) t.false(names.has(dropped), dropped)
})

test.serial(
  'nobody waits for partitions that wait to be dropped: the work gives way to a long query, and is done when that ends',
  async (t) => {
    const { deps } = control.started
    await control.sql.query(`SELECT ensure_log_partitions('2020-01-02'), ensure_log_partitions('2020-01-03')`)
    const days = async () => {
      const { rows } = await control.sql.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relname ~ '_2020010[23]$' AND relkind = 'r'`,
      )
      return rows.length
    }
    const reader = await control.sql.connect()
    t.teardown(() => reader.release())
    await reader.query('BEGIN; SELECT FROM logs LIMIT 0')
    const dropped = dropPartitions.run({ ...deps, config: { ...deps.config, logRetentionDays: 365 } })
    const waits: number[] = []
    const isWaiting = async () =>
      (await control.sql.query(`SELECT FROM pg_locks WHERE NOT granted AND relation IN ('logs'::regclass, 'log_bodies'::regclass)`)).rows
        .length > 0
    await eventually(isWaiting, 10_000, 'a drop that waits')
    while (waits.length < 30) {
      const startedAt = performance.now()
      t.is((await list(acme.workspaceKey, { page_size: '1' })).status, 200)
      waits.push(performance.now() - startedAt)
    }
    t.is(await days(), 6, 'the reader holds on to them')
    t.true(Math.max(...waits) < 1000, `a list took ${Math.max(...waits)} ms`)
    await reader.query('COMMIT')
    await dropped
    t.is(await days(), 0)
  },
)
