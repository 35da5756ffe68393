import test from 'ava'
import type { Tenant } from './setup.ts'
import { startUsed, type UsedControl } from './used-control.ts'

let used: UsedControl
/** Logs of one tenant, spread over some hours, on enough pages for a sample to be exact enough. */
const logs = 24_000

test.before(async () => {
  used = await startUsed()
  await sql(`SELECT ensure_log_partitions((now() AT TIME ZONE 'UTC')::date - n) FROM generate_series(0, 1) n`)
  await insert(used.acme)
})
test.after.always(() => used.close())

/** Inserts a log a second. */
async function insert({ organisationId, workspaceId }: Tenant): Promise<void> {
  await sql(
    `INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, provider, model, status, outcome, stream, duration_ms,
                       input_tokens, output_tokens, total_tokens, usage_source, retry_count, cache_status, trace_id, metadata, request_bytes, response_bytes, cost_pico, cost_state)
     SELECT gen_random_uuid(), $1, $2, now() - n * interval '1 second', $2, '192.0.2.7', 'POST', '/chat/completions', 'chat', 'openai', 'many', 200, 'complete', false,
            10, 1, 1, 2, 'provider', 0, 'DISABLED', n::text, jsonb_build_object('env', CASE WHEN n % 4 = 0 THEN 'test' ELSE 'prod' END), 1, 1, 20000000000, 'priced'
       FROM generate_series(1, ${logs}) n`,
    [organisationId, workspaceId],
  )
  await sql('ANALYZE logs')
}

const sql = (text: string, values: readonly unknown[] = []) =>
  used.control.sql.query<Record<string, unknown>>(text, [...values]).then(({ rows }) => rows)
const ask = async (path: string) => {
  const answer = await used.control.call(used.acme.adminKey, 'GET', path)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

interface Sampled {
  readonly every: number
  readonly rate: number
  readonly error_bound: number
}

const pretendRows = (factor: number) =>
  sql(`UPDATE pg_class SET reltuples = reltuples * $1 WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'logs'::regclass)`, [
    factor,
  ])

/** Makes the database believe that there are so many times as many logs; without it the whole is read. */
async function pretend(factor: number): Promise<void> {
  await pretendRows(factor)
  for (const table of ['usage_hours', 'usage_days']) await sql(`UPDATE ${table} SET requests = round(requests * $1::float8)`, [factor])
}

const summaryOf = (body: Readonly<Record<string, unknown>>) => body['summary'] as Readonly<Record<string, number>>
const byFilter = 'ai_model=many&cost_min=1'

test.serial('few logs are read whole, and nothing is said of a sample', async (t) => {
  const graph = await ask(`/analytics/graphs/cost?${byFilter}`)
  t.is(summaryOf(graph)['total'], logs * 2)
  t.false('sampled' in graph)
})

test.serial('many logs are sampled: counts and sums are within what the answer says of them, and the same each time', async (t) => {
  await pretend(25)
  const graph = await ask(`/analytics/graphs/cost?${byFilter}`)
  const { every, rate, error_bound: bound } = graph['sampled'] as Sampled
  t.is(every, 4)
  t.is(rate, 0.25)
  t.true(bound > 1 && bound < 40, `${bound}`)
  const isNear = (value: unknown, exact: number, of = exact) =>
    t.true(Math.abs(Number(value) - exact) <= (of * bound) / 100 && value !== exact, `${String(value)} of ${exact}`)
  isNear(summaryOf(graph)['total'], logs * 2)
  t.is(summaryOf(graph)['avg'], 2)
  t.deepEqual(await ask(`/analytics/graphs/cost?${byFilter}`), graph)
  const requests = summaryOf(await ask(`/analytics/graphs/requests?${byFilter}`))
  t.is(Number(requests['total']) % every, 0)
  const groups = await ask('/analytics/groups/metadata/env?ai_model=many')
  const values = new Map(
    (groups['data'] as readonly Readonly<Record<string, unknown>>[]).map((group) => [group['metadata_value'], group['requests']]),
  )
  isNear(values.get('prod'), (logs * 3) / 4, logs)
  isNear(values.get('test'), logs / 4, logs)
  t.like(groups['sampled'], { every: 4 })
  const overview = await ask(`/analytics/overview?${byFilter}&measures=requests,total_tokens,p95_latency`)
  t.is(summaryOf(overview)['requests'], requests['total'])
  t.is(summaryOf(overview)['total_tokens'], 2 * Number(requests['total']))
  t.true(Math.abs(Number(summaryOf(overview)['p95_latency']) - 10) < 0.2)
  t.like(overview['sampled'], { every: 4 })
  for (const path of [
    '/analytics/summary/cache',
    '/analytics/groups/model',
    '/analytics/groups/workspaces',
    '/analytics/groups/ai-models',
    '/logs/groups/model',
  ])
    t.like((await ask(`${path}?${byFilter}`))['sampled'], { every: 4 }, path)
  // Figures from roll-ups are never sampled.
  for (const path of ['/analytics/graphs/cost', '/analytics/groups/model', '/analytics/groups/users'])
    t.false('sampled' in (await ask(path)), path)
})

const boundOf = async () => ((await ask(`/analytics/graphs/cost?${byFilter}`))['sampled'] as Sampled).error_bound

test.serial('logs of others make no estimate look better', async (t) => {
  const alone = await boundOf()
  await insert(await used.control.createTenant('rival'))
  await pretendRows(25)
  const beside = await boundOf()
  t.true(Math.abs(beside - alone) < alone / 10, `${beside} beside others, ${alone} alone`)
  const { adminKey } = used.acme
  await used.control.call(adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  await used.control.refresh()
  const own = await used.control.call(used.ada.key, 'GET', '/analytics/graphs/cost?cost_min=0')
  t.is(own.status, 200)
  t.false('sampled' in own.body, 'the few logs of a person are read whole')
})

test.serial('a reading that takes too long becomes a sample, not a 503', async (t) => {
  await pretend(1 / 25)
  await sql(`ALTER FUNCTION latency_bucket RENAME TO fast_latency_bucket`)
  await sql(
    `CREATE FUNCTION latency_bucket(ms double precision) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(0.0005); RETURN fast_latency_bucket(ms); END $$`,
  )
  for (const view of ['usage_logs', 'usage_sampled_logs'])
    await sql(
      `DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW ${view} AS ' || replace(pg_get_viewdef('${view}'::regclass), 'fast_latency_bucket', 'latency_bucket'); END $$`,
    )
  const graph = await ask(`/analytics/graphs/latency?${byFilter}`)
  t.like(graph['sampled'], { every: 8 })
  t.true(Math.abs(Number(summaryOf(graph)['p99']) - 10) < 0.2)
})
