import test from 'ava'
import fc from 'fast-check'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let ada: { readonly id: string; readonly key: string }
let rows: readonly Row[]

/** A log as SQL shows it, without a filter. */
interface Row {
  readonly id: string
  readonly at: number
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly api_key_id: string
  readonly provider: string
  readonly model: string | null
  readonly status: number
  readonly outcome: string
  readonly stream: boolean
  readonly duration_ms: number
  readonly total_tokens: number | null
  readonly cost: number | null
  readonly metadata: Readonly<Record<string, string>>
}

const logsOfEach = 9000
/** Text that JSON escapes, or that looks like the border of two pairs. */
const odd = { 'a", "b': 'x\\', quote: '", "', 'ü ?': '\u0001 \\"' }

/** Logs of eight days: more than are looked at one by one; the last day comes from before there were indexes. */
const fill = `
  INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, user_id, client_ip, method, path, operation, provider, provider_slug, model,
                    status, outcome, stream, duration_ms, total_tokens, usage_source, retry_count, cache_status, trace_id, metadata, request_bytes, response_bytes, cost_pico)
  SELECT gen_random_uuid(), $1::uuid, CASE WHEN i % 5 = 0 THEN $2::uuid ELSE $3::uuid END, $4::timestamptz + i * interval '76 seconds', ('00000000-0000-7000-8000-00000000000' || i % 7)::uuid,
         CASE WHEN i % 97 = 0 THEN $5::uuid END, '192.0.2.7', 'POST', '/chat/completions', 'chatComplete', 'provider-' || i % 4, 'slug', nullif('model-' || i % 11, 'model-7'),
         CASE WHEN i % 211 = 0 THEN 500 WHEN i % 13 = 0 THEN 429 ELSE 200 END, CASE WHEN i % 17 = 0 THEN 'error' ELSE 'complete' END, i % 3 = 0,
         (i % 1009) * 7.3, CASE WHEN i % 19 > 0 THEN (i::bigint * 7919 % 50021) END, 'provider', 0, 'DISABLED', 'trace', jsonb_build_object('_user', 'user-' || i % 401, 'env', 'env-' || i % 3), 1, 1,
         CASE WHEN i % 23 > 0 THEN (i::bigint * 104729 % 1000003) * 1000003 END
    FROM generate_series(0, $6::int - 1) i`

test.before(async () => {
  control = await startControl()
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  const id = await control.createUser(acme, { email: 'ada@acme.example', workspaces: { [acme.sideId]: 'member' } })
  ada = { id, key: await control.createKey(acme, { workspaceId: acme.sideId, userId: id, scopes: userScopes }) }
  const begin = new Date(Date.now() - 8 * 86_400_000).toISOString()
  for (let day = 0; day <= 8; day++) await control.sql.query(`SELECT ensure_log_partitions((now() - $1 * interval '1 day')::date)`, [day])
  for (const { organisationId, workspaceId, sideId } of [acme, other])
    await control.sql.query(fill, [
      organisationId,
      sideId,
      workspaceId,
      begin,
      organisationId === acme.organisationId ? id : null,
      logsOfEach,
    ])
  await control.sql.query(`UPDATE logs SET metadata = metadata || $1::jsonb WHERE status = 500`, [JSON.stringify(odd)])
  const found = await control.sql.query<Row>(
    `SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS at, organisation_id, workspace_id, user_id, api_key_id, provider, model, status, outcome, stream, duration_ms,
            total_tokens::float8, cost_pico::float8 AS cost, metadata FROM logs`,
  )
  rows = found.rows
  await control.sql.query('ANALYZE logs')
})
test.after.always(() => control.close())

type Filter = readonly [query: string, leaves: (row: Row) => boolean]
const number = (below: number) => fc.integer({ min: 0, max: below })

const filter: fc.Arbitrary<Filter> = fc.oneof(
  number(12).map((n): Filter => [`ai_model=model-${n}`, ({ model }) => model === `model-${n}`]),
  number(12).map((n): Filter => [`ai_model_not=model-${n},model-1`, ({ model }) => model !== `model-${n}` && model !== 'model-1']),
  fc
    .subarray([200, 429, 500, 404], { minLength: 1 })
    .map((all): Filter => [`status_code=${all.join(',')}`, ({ status }) => all.includes(status)]),
  number(450).map((n): Filter => [`metadata={"_user":"user-${n}"}`, ({ metadata }) => metadata['_user'] === `user-${n}`]),
  number(3).map((n): Filter => [
    `metadata={"env":["env-${n}","env-2"]}`,
    ({ metadata }) => [`env-${n}`, 'env-2'].includes(metadata['env'] ?? ''),
  ]),
  number(50_100).map((n): Filter => [`total_units_min=${n}`, (row) => row.total_tokens !== null && row.total_tokens >= n]),
  number(50_100).map((n): Filter => [`total_units_max=${n}`, (row) => row.total_tokens !== null && row.total_tokens <= n]),
  number(102).map((n): Filter => [`cost_min=${n}`, ({ cost }) => cost !== null && cost >= n * 1e10]),
  number(102).map((n): Filter => [`cost_max=${n / 10}`, ({ cost }) => cost !== null && cost <= n * 1e9]),
  number(7400).map((n): Filter => [`response_time_min=${n}`, (row) => row.duration_ms >= n]),
  number(7400).map((n): Filter => [`response_time_max=${n}`, (row) => row.duration_ms <= n]),
  fc.boolean().map((is): Filter => [`is_success=${is}`, ({ status, outcome }) => (status < 400 && outcome === 'complete') === is]),
  fc.boolean().map((is): Filter => [`stream=${is}`, ({ stream }) => stream === is]),
  number(5).map((n): Filter => [
    `ai_org_model=provider-${n}__model-${n},provider-1__model-5`,
    ({ provider, model }) => [`provider-${n}__model-${n}`, 'provider-1__model-5'].includes(`${provider}__${model}`),
  ]),
  number(8).map((n): Filter => [`api_key_ids=00000000-0000-7000-8000-00000000000${n}`, (row) => row.api_key_id.endsWith(`00${n}`)]),
  fc
    .constantFrom(...Object.entries(odd))
    .map(([key, value]): Filter => [`metadata=${JSON.stringify({ [key]: value })}`, ({ metadata }) => metadata[key] === value]),
  fc.constant<Filter>(['metadata_keys=env,none', () => false]),
  fc.constant<Filter>(['guardrail=denied', () => false]),
)

const nameOf = ([query]: Filter) => query.slice(0, query.indexOf('='))
const inOrder = (one: Row, later: Row) => one.at - later.at || (one.id < later.id ? -1 : 1)

test('any filters leave the logs that a plain reading of all rows leaves, page after page, and of the caller alone', async (t) => {
  const callers = [
    [acme.adminKey, (row: Row) => row.organisation_id === acme.organisationId],
    [acme.workspaceKey, (row: Row) => row.workspace_id === acme.workspaceId],
    [other.adminKey, (row: Row) => row.organisation_id === other.organisationId],
    [ada.key, (row: Row) => row.workspace_id === acme.sideId],
  ] as const
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(filter, { minLength: 1, maxLength: 3, selector: nameOf }),
      fc.constantFrom(...callers),
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 1, max: 60 }),
      async (filters, [key, sees], order, size) => {
        const left = rows.filter((row) => sees(row) && filters.every(([, leaves]) => leaves(row))).toSorted(inOrder)
        const expected = (order === 'asc' ? left : left.toReversed()).slice(0, 2 * size)
        const query = filters.map(([text]) => text.replace(/=(.*)/s, (_, value: string) => `=${encodeURIComponent(value)}`)).join('&')
        const seen: string[] = []
        for (let page = 0, after = ''; page < 2; page++) {
          const { status, text, body } = await control.call(key, 'GET', `/logs?${query}&order=${order}&page_size=${size}${after}`)
          t.is(status, 200, text)
          seen.push(...(body['data'] as { id: string }[]).map(({ id }) => id))
          if (body['next_cursor'] === null) break
          after = `&after=${body['next_cursor'] as string}`
        }
        t.deepEqual(
          seen,
          expected.map(({ id }) => id),
        )
      },
    ),
    {
      numRuns: 150,
      examples: [
        [
          [
            ['metadata={"_user":"user-399"}', ({ metadata }) => metadata['_user'] === 'user-399'],
            ['status_code=500', ({ status }) => status === 500],
          ],
          callers[0],
          'desc',
          3,
        ],
      ],
    },
  )
})

test('a partition that is read directly shows an organisation nothing, in a search its own logs alone, and the system the whole', async (t) => {
  const [day] = (await control.sql.query<{ name: string }>(`SELECT 'logs_' || to_char(now() - interval '3 days', 'YYYYMMDD') AS name`)).rows
  const { orm } = control.started.deps
  const { inTenant, asSystem } = await import('../../../src/app/database/orm.ts')
  const { beginSearch, endSearch, termOf } = await import('../../../src/features/logs/log-terms.ts')
  const read = `SELECT DISTINCT organisation_id FROM ${day?.name}`
  const search = (of: Tenant) => ({ all: [termOf('organisation_id', of.organisationId)], any: [] })
  const asAcme = inTenant.bind(null, orm, acme.organisationId)
  t.deepEqual(await asAcme((em) => em.execute(read)), [])
  t.deepEqual(
    await asAcme(async (em) => {
      await beginSearch(em, search(acme))
      await endSearch(em)
      return em.execute(read)
    }),
    [],
  )
  t.true((await asSystem(orm, (em) => em.execute<unknown[]>(read))).length > 1, 'as pg_dump reads it')
  const seen = (of: Tenant) =>
    inTenant(orm, acme.organisationId, async (em) => {
      await beginSearch(em, search(of))
      return em.execute<{ organisation_id: string }[]>(read)
    })
  t.deepEqual(await seen(acme), [{ organisation_id: acme.organisationId }])
  t.deepEqual(await seen(other), [])
})

test('few logs of many are found by the indexes', async (t) => {
  const { inTenant } = await import('../../../src/app/database/orm.ts')
  const { beginSearch, termOf } = await import('../../../src/features/logs/log-terms.ts')
  const plan = await inTenant(control.started.deps.orm, acme.organisationId, async (em) => {
    await beginSearch(em, { all: [termOf('organisation_id', acme.organisationId), termOf('status', 500)], any: [] })
    return em.execute(
      `EXPLAIN SELECT created_at FROM logs_${new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')} l WHERE l.status = 500`,
    )
  })
  t.true(/Bitmap Index Scan on logs_\d+_expr_idx/.test(JSON.stringify(plan)))
})
