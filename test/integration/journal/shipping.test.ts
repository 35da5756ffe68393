import test from 'ava'
import { readdirSync } from 'node:fs'
import type { Client, ClientConfig } from 'pg'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, organisationId, temporaryDirectory, workspaceId } from '../../support/journal.ts'

let database: TestDatabase
let client: ClientConfig

test.before(async () => {
  database = await testDatabase()
  client = (await connect(database.config, silent)).runtime
})
test.after.always(() => database.drop())

const asSuperuser = <T>(work: (client: Client) => Promise<T>) => inDatabase(database.superuser, work)
const rowsOf = (sql: string, values: unknown[] = []) => asSuperuser(async (pg) => (await pg.query(sql, values)).rows)

function start(sleeps = false) {
  const directory = temporaryDirectory()
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
  const shipper = startShipper({ directory: directory.path, database: database.config, client, log: silent, sleeps })
  return { directory, journal, shipper }
}

/** The system's word on it. */
const threads = () => readdirSync('/proc/self/task').length

test.serial('one that sleeps has no thread until it is woken, and ships what was appended before', async (t) => {
  const before = threads()
  const { directory, journal, shipper } = start(true)
  const record = exchangeRecord({})
  journal.append(record, exchangeBodies(null, null))
  t.is(threads(), before)
  shipper.wake()
  t.true(threads() > before)
  await shipper.flushed()
  t.is((await rowsOf('SELECT id FROM logs WHERE id = $1', [record.id])).length, 1)
  await journal.close()
  await shipper.stop()
  directory.remove()
  const unused = start(true)
  await unused.journal.close()
  await unused.shipper.stop()
  unused.directory.remove()
})

const attempt = {
  option: 'config',
  provider: 'openai',
  providerSlug: null,
  model: 'm',
  status: 429,
  failure: 'rate_limit',
  error: 'slow',
  startMs: 1,
  durationMs: 2.5,
  responseBytes: 9,
} as const

const cost = {
  state: 'priced',
  amount: '10000200030000',
  catalogue: 'b0006a924a997a63',
  saved: null,
  lines: [
    {
      attempt: 0,
      dimension: 'input',
      count: 4,
      unit: 'token',
      rate: '2500050007500',
      amount: '10000200030000',
      source: 'built_in',
      note: null,
    },
  ],
  unpriced: [],
  charges: [],
} as const

const hook = (deny: boolean) => ({
  verdict: false,
  id: 'a',
  name: 'a guardrail',
  transformed: false,
  checks: [],
  feedback: null,
  execution_time: 1,
  async: false,
  type: 'guardrail' as const,
  created_at: '2026-01-01T00:00:00.000Z',
  deny,
})

test('a record and its bodies arrive as they were appended', async (t) => {
  const { directory, journal, shipper } = start()
  const prompt = { id: '01980000-0000-7000-8000-00000000000a', versionId: '01980000-0000-7000-8000-00000000000b', slug: 'pp-greeting' }
  const record = exchangeRecord({
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    metadata: { note: 'ä "quoted"' },
    prompt,
    attempts: [attempt],
    hooks: { before_request_hooks: [], after_request_hooks: [hook(true), hook(false)] },
    translation: { dropped: ['seed'], providerError: '{"error":"busy"}' },
    mirrorOf: '01980000-0000-7000-8000-00000000000c',
    billed: false,
    config: { slug: 'pc-mine', version: 3 },
    cost,
    spent: [{ attempt: 0, counter: 'api-key:k:usage:cost:once::0', slot: '0', amount: '10000200030000', mark: '0a1b2c3d:7' }],
  })
  journal.append(record, {
    request: Buffer.from('{"a":1}'),
    response: Buffer.from([0, 255, 128]),
    requestTruncated: false,
    responseTruncated: true,
  })
  await shipper.flushed()
  t.deepEqual(await rowsOf('SELECT * FROM logs WHERE id = $1', [record.id]), [
    {
      id: record.id,
      organisation_id: organisationId,
      workspace_id: workspaceId,
      created_at: new Date(record.createdAt),
      api_key_id: record.apiKeyId,
      user_id: null,
      client_ip: '192.0.2.7',
      method: 'POST',
      path: '/chat/completions',
      operation: 'chat_completions',
      provider: 'openai',
      provider_slug: 'openai-main',
      model: 'gpt-4o-mini',
      status: 200,
      outcome: 'complete',
      error_code: null,
      stream: false,
      duration_ms: 12.5,
      upstream_ms: 11,
      first_byte_ms: 12,
      input_tokens: '12',
      output_tokens: '30',
      total_tokens: '42',
      usage: { cache_read_tokens: 4 },
      usage_source: 'provider',
      budgets: [[0, 'api-key:k:usage:cost:once::0', '0', '10000200030000', '0a1b2c3d:7']],
      cost_nano_usd: null,
      cost_pico: cost.amount,
      cost_state: 'priced',
      price_catalogue: 'b0006a924a997a63',
      options_tried: 1,
      guardrail: 'denied',
      attempts_made: 1,
      saved_pico: null,
      retry_count: 0,
      cache_status: 'DISABLED',
      cached_log_id: null,
      mirror_of: '01980000-0000-7000-8000-00000000000c',
      billed: false,
      config_slug: 'pc-mine',
      config_version: 3,
      last_used_option: 'config',
      trace_id: record.traceId,
      span_id: null,
      parent_span_id: null,
      span_name: null,
      metadata: { note: 'ä "quoted"' },
      prompt_id: prompt.id,
      prompt_version_id: prompt.versionId,
      prompt_slug: prompt.slug,
      request_bytes: '20',
      response_bytes: '40',
    },
  ])
  t.deepEqual(await rowsOf('SELECT * FROM log_bodies WHERE id = $1', [record.id]), [
    {
      id: record.id,
      hook_results: { before_request_hooks: [], after_request_hooks: [hook(true), hook(false)] },
      cost: { saved: null, lines: cost.lines, unpriced: [], charges: [] },
      attempts: [
        {
          option: 'config',
          provider: 'openai',
          provider_slug: null,
          model: 'm',
          status: 429,
          failure: 'rate_limit',
          error: 'slow',
          start_ms: 1,
          duration_ms: 2.5,
          response_bytes: 9,
          req_units: null,
          res_units: null,
          total_units: null,
        },
      ],
      organisation_id: organisationId,
      created_at: new Date(record.createdAt),
      upstream_url: record.upstreamUrl,
      request_headers: record.requestHeaders,
      response_headers: record.responseHeaders,
      request_body: Buffer.from('{"a":1}'),
      response_body: Buffer.from([0, 255, 128]),
      translation: { dropped_params: ['seed'], provider_error: '{"error":"busy"}' },
      object_key: null,
      request_truncated: false,
      response_truncated: true,
      sealed: null,
    },
  ])
  t.like(shipper.stats(), { shipped: 1, adopted: 0, rejected: 0, fault: null })
  await journal.close()
  await shipper.stop()
  t.deepEqual(readdirSync(directory.path), [])
  directory.remove()
})

test('stop ships what was appended, over many segments, and leaves nothing behind', async (t) => {
  const { directory, journal, shipper } = start()
  const traceId = 'many-segments'
  const body = 'x'.repeat(20_000)
  for (let count = 0; count < 1000; count += 1) journal.append(exchangeRecord({ traceId }), exchangeBodies(body, null))
  await journal.close()
  await shipper.stop(30_000)
  t.deepEqual(await rowsOf('SELECT count(*)::int AS count, count(DISTINCT id)::int AS ids FROM logs WHERE trace_id = $1', [traceId]), [
    { count: 1000, ids: 1000 },
  ])
  t.deepEqual(readdirSync(directory.path), [])
  t.deepEqual(await rowsOf('SELECT FROM journal_cursors WHERE node = ANY($1)', [readdirSync(directory.path)]), [])
  directory.remove()
})

test('amounts of every size arrive with every digit', async (t) => {
  const { journal, shipper } = start()
  const amounts = ['0', '1', '9999', '10000', '2800', '100000000', '123400000000', '9007199254740993', '999999999999999999999999999999']
  const records = amounts.map((amount) => exchangeRecord({ cost: { ...cost, amount } }))
  const unpriced = exchangeRecord({ cost: { ...cost, state: 'unpriced', amount: null } })
  const none = { request: null, response: null, requestTruncated: false, responseTruncated: false }
  for (const record of [...records, unpriced]) journal.append(record, none)
  await shipper.flushed()
  for (const [index, record] of records.entries())
    t.deepEqual(await rowsOf('SELECT cost_pico::text AS pico FROM logs WHERE id = $1', [record.id]), [{ pico: amounts[index] }])
  t.deepEqual(await rowsOf('SELECT cost_pico, cost_state FROM logs WHERE id = $1', [unpriced.id]), [
    { cost_pico: null, cost_state: 'unpriced' },
  ])
})
