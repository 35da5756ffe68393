import test from 'ava'
import fc from 'fast-check'
import { measureNames, type MeasureName } from '../../../src/features/analytics/measures.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { startUsed, usedRecord, type UsedControl } from './used-control.ts'

let used: UsedControl
test.before(async () => void (used = await startUsed()))
test.after.always(() => used.close())

const traits: Readonly<Record<string, (record: ExchangeRecord) => string | number | null>> = {
  ai_service: ({ provider }) => provider,
  model: ({ model }) => model,
  status_code: ({ status }) => status,
  api_key: ({ apiKeyId }) => apiKeyId,
  config: ({ config }) => config?.slug ?? null,
  workspace: ({ workspaceId }) => workspaceId,
  provider: ({ providerSlug }) => providerSlug,
  prompt: ({ prompt }) => prompt?.slug ?? null,
}

type Rows = readonly ExchangeRecord[]
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly (number | null | undefined)[]) => {
  const known = values.filter((value) => typeof value === 'number')
  return known.length === 0 ? null : sum(known) / known.length
}
const share = (some: number, all: number) => (all === 0 ? null : (100 * some) / all)
/** The shortest time that no fewer than a share of the requests took at most. */
const percentile = (rows: Rows, part: number): number =>
  rows.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other)[Math.ceil(rows.length * part) - 1] ?? 0
const failed = ({ status, outcome }: ExchangeRecord) => status >= 400 || outcome !== 'complete'
const cacheIs = (rows: Rows, ...kinds: readonly string[]) => rows.filter(({ cacheStatus }) => kinds.includes(cacheStatus)).length
const times = (rows: Rows) => rows.map(({ createdAt }) => createdAt)

/** Each figure as one reads it off the rows. */
const figures: Readonly<Record<MeasureName, (rows: Rows) => unknown>> = {
  cost: (rows) => Number(rows.reduce((total, row) => total + used.picoOf(row), 0n)) / 1e10,
  total_tokens: (rows) => sum(rows.map(({ usage }) => usage?.totalTokens ?? 0)),
  avg_tokens: (rows) => mean(rows.map(({ usage }) => usage?.totalTokens)),
  avg_input_tokens: (rows) => mean(rows.map(({ usage }) => usage?.inputTokens)),
  avg_output_tokens: (rows) => mean(rows.map(({ usage }) => usage?.outputTokens)),
  avg_latency: (rows) => mean(rows.map(({ durationMs }) => durationMs)),
  p95_latency: (rows) => percentile(rows, 0.95),
  p99_latency: (rows) => percentile(rows, 0.99),
  success_rate: (rows) => share(rows.filter((row) => !failed(row)).length, rows.length),
  error_count: (rows) => rows.filter(failed).length,
  cache_hit_rate: (rows) => share(cacheIs(rows, 'HIT', 'SEMANTIC HIT'), cacheIs(rows, 'HIT', 'SEMANTIC HIT', 'MISS', 'SEMANTIC MISS')),
  last_seen: (rows) => new Date(Math.max(...times(rows))).toISOString(),
  first_seen: (rows) => new Date(Math.min(...times(rows))).toISOString(),
}

/** Filters, and which rows each leaves. */
const filters: readonly (readonly [string, (record: ExchangeRecord) => boolean])[] = [
  ['', () => true],
  ['status_code=200,429', ({ status }) => status === 200 || status === 429],
  ['ai_model=o3', ({ model }) => model === 'o3'],
  ['cost_min=5', ({ cost }) => BigInt(cost?.amount ?? -1) >= 50_000_000_000n],
  ['cost_min=1&cost_max=8', ({ cost }) => BigInt(cost?.amount ?? -1) >= 10_000_000_000n && BigInt(cost?.amount ?? 0) <= 80_000_000_000n],
  ['total_units_min=50', ({ usage }) => (usage?.totalTokens ?? 0) >= 50],
  ['is_success=false', failed],
  ['ai_org_model=openai__o3,anthropic__opus', ({ provider, model }) => ['openai__o3', 'anthropic__opus'].includes(`${provider}__${model}`)],
  ['configs=c', ({ config }) => config?.slug === 'c'],
  ['trace_id=trace-3', ({ traceId }) => traceId === 'trace-3'],
  ['metadata={"env":"prod"}', ({ metadata }) => metadata['env'] === 'prod'],
  ['workspace_slug=side', ({ workspaceId }) => workspaceId === used.acme.sideId],
]

type Group = Readonly<Record<string, unknown>>
const rounded = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(9)) : value)

function expected(rows: Rows, by: string, columns: readonly MeasureName[]): Group {
  const groups = Map.groupBy(rows, (row) => {
    const key = traits[by]?.(row) ?? null
    return key === null ? null : String(key)
  })
  return Object.fromEntries(
    [...groups].map(([key, members]) => [
      String(key),
      { requests: members.length, ...Object.fromEntries(columns.map((name) => [name, rounded(figures[name](members))])) },
    ]),
  )
}

const told = (body: Group): Group =>
  Object.fromEntries(
    (body['data'] as Group[]).map(({ key, ...rest }) => [
      String(key),
      Object.fromEntries(
        Object.entries(rest)
          .filter(([name]) => name !== 'object')
          .map(([name, value]) => [name, rounded(value)]),
      ),
    ]),
  )

const asked = fc.record({
  route: fc.constantFrom('/analytics/groups', '/logs/groups'),
  by: fc.constantFrom(...Object.keys(traits)),
  columns: fc.subarray([...measureNames]),
  filter: fc.constantFrom(...filters),
  range: fc.option(fc.tuple(fc.integer({ min: 0, max: 7 * 24 * 3600 }), fc.integer({ min: 0, max: 7 * 24 * 3600 }))),
})

/** Ranges of minutes, hours and days, which begin and end anywhere. */
function between(seconds: readonly [number, number] | null): readonly [string, (record: ExchangeRecord) => boolean] {
  if (seconds === null) return ['', () => true]
  const [to, from] = seconds.toSorted((one, other) => one - other).map((ago) => Date.now() - ago * 1000) as [number, number]
  const query = `&time_of_generation_min=${new Date(from).toISOString()}&time_of_generation_max=${new Date(to).toISOString()}`
  return [query, ({ createdAt }) => createdAt >= from && createdAt <= to]
}

const close = (name: string, value: unknown, other: unknown): unknown =>
  name.startsWith('p9') && Math.abs(Number(value) / Number(other) - 1) <= 0.018 ? other : value

/** Percentiles come from histograms, whose error is bounded. */
function nearly(given: Group, wanted: Group): Group {
  return Object.fromEntries(
    Object.entries(given).map(([key, group]) => {
      const other = (wanted[key] ?? {}) as Group
      return [key, Object.fromEntries(Object.entries(group as Group).map(([name, value]) => [name, close(name, value, other[name])]))]
    }),
  )
}

const agree = (t: { deepEqual(a: unknown, b: unknown): unknown }, key: string, visible: Rows) =>
  fc.assert(
    fc.asyncProperty(asked, async ({ route, by, columns, filter: [query, holds], range }) => {
      const [bounds, within] = between(range)
      const given = columns.length === 0 ? '' : `&columns=${columns.join(',')}`
      const { body } = await used.control.call(key, 'GET', `${route}/${by}?${encodeURI(query)}${bounds}${given}`)
      const groups = expected(
        visible.filter((row) => holds(row) && within(row)),
        by,
        columns,
      )
      t.deepEqual(nearly(told(body), groups), groups)
      t.deepEqual(body['total'], Object.keys(groups).length)
    }),
    { numRuns: 60 },
  )

test.serial('groups say what the raw rows say, for every trait, figure and filter', (t) => agree(t, used.acme.adminKey, used.records))

test.serial('what a member may not see is in no group and no figure', async (t) => {
  const settings = (membersViewAllData: boolean | null) =>
    used.control.call(used.acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData } })
  t.is((await settings(false)).status, 200)
  await used.control.refresh()
  const own = used.records.filter(({ userId, workspaceId }) => userId === used.ada.userId && workspaceId === used.acme.sideId)
  t.true(own.length > 0)
  await agree(t, used.ada.key, own)
  await settings(null)
  await used.control.refresh()
  await agree(
    t,
    used.ada.key,
    used.records.filter(({ workspaceId }) => workspaceId === used.acme.sideId),
  )
})

test.serial('a model is one group however it is spelt, and a filter on it means all spellings', async (t) => {
  const tenant = await used.control.createTenant('spellings')
  const hour = 3_600_000
  const spellings = ['gpt-4o', 'GPT-4o', 'Gpt-4O', 'Opus']
  const records = [0, 0, 3, 50, 75].flatMap((hours, nth) =>
    spellings.map((model, at) =>
      Object.assign(usedRecord(tenant, used.ada.userId, 7), {
        createdAt: Date.now() - hours * hour - 1000,
        model,
        provider: 'openai',
        workspaceId: tenant.workspaceId,
        durationMs: 100 * (nth + at + 1),
        userId: null,
        traceId: `spelt-${nth}`,
      }),
    ),
  )
  await used.ship(records)
  const ask = async (path: string) => (await used.control.call(tenant.adminKey, 'GET', `/analytics/${path}`)).body
  await used.control.call(tenant.workspaceKey, 'POST', '/feedback', { trace_id: 'spelt-0', value: 4 })
  const groups: Readonly<Record<string, (row: Group) => readonly unknown[]>> = {
    'groups/model?columns=p95_latency,avg_latency': ({ key, requests }) => [key, requests],
    'groups/model?columns=p95_latency&total_units_min=1': ({ key, requests }) => [key, requests],
    'groups/ai-models?': ({ ai_model: key, requests }) => [key, Number(requests)],
    'groups/workspaces?group_by=model,ai_service': ({ keys, requests }) => [(keys as Group)['model'], requests],
  }
  for (const [path, toRow] of Object.entries(groups)) {
    const { data, total } = await ask(path)
    t.deepEqual(
      (data as Group[]).map(toRow),
      [
        ['gpt-4o', 15],
        ['Opus', 5],
      ],
      path,
    )
    t.is(total, 2, path)
    t.deepEqual((await ask(`${path}&page_size=1&current_page=5`))['total'], 2, path)
    for (const [filter, wanted] of [
      ['ai_model=GPT-4O', [['gpt-4o', 15]]],
      ['ai_model_not=GPT-4O', [['Opus', 5]]],
      ['ai_org_model=openai__opus', [['Opus', 5]]],
    ] as const)
      t.deepEqual(((await ask(`${path}&${filter}`))['data'] as Group[]).map(toRow), wanted, `${path}&${filter}`)
  }
  const [spelt] = (await ask('groups/model?columns=p95_latency'))['data'] as Group[]
  t.true(Math.abs(Number(spelt?.['p95_latency']) / 700 - 1) <= 0.018, JSON.stringify(spelt))
  const feedback = (await ask('graphs/feedbacks/ai-models'))['data_points'] as Group[]
  t.deepEqual(
    feedback.map(({ ai_model: model, total }) => [model, total]),
    [
      ['Opus', 1],
      ['gpt-4o', 1],
    ],
  )
})

const at = (path: string) => used.control.call(used.acme.adminKey, 'GET', `/analytics/groups/${path}`)

test('without columns a group has only its count; pages and times bound the list; what is unknown is named', async (t) => {
  const first = await at('model?page_size=2')
  t.deepEqual(Object.keys((first.body['data'] as Group[])[0] ?? {}).toSorted(), ['key', 'object', 'requests'])
  const second = await at('model?page_size=2&current_page=1')
  t.is((second.body['data'] as Group[]).length, 2)
  t.is(new Set([...Object.keys(told(first.body)), ...Object.keys(told(second.body))]).size, 4)
  t.is((await at('model?time_of_generation_max=2001-01-01T00:00:00Z')).body['total'], 0)
  for (const path of ['colour', 'model?columns=colour', 'model?colour=red']) t.is((await at(path)).status, 400, path)
})

const facets: Readonly<Record<string, (record: ExchangeRecord) => string | number | boolean | null>> = {
  ai_model: ({ model }) => model,
  ai_org: ({ provider }) => provider,
  virtual_keys: ({ providerSlug }) => providerSlug,
  configs: ({ config }) => config?.slug ?? null,
  status_code: ({ status }) => status,
  outcome: ({ outcome }) => outcome,
  cache_status: ({ cacheStatus }) => cacheStatus,
  user_id: ({ userId }) => userId,
  operation: ({ operation }) => operation,
  error_code: ({ errorCode }) => errorCode,
  stream: ({ stream }) => stream,
}

test.serial('facets count what the raw rows have, the most frequent first', (t) =>
  fc.assert(
    fc.asyncProperty(
      fc.subarray(Object.keys(facets), { minLength: 1 }),
      fc.constantFrom(...filters.filter(([query]) => !query.startsWith('workspace'))),
      fc.constantFrom(used.acme.adminKey, used.acme.workspaceKey),
      async (fields, [query, holds], key) => {
        const { body, text } = await used.control.call(key, 'GET', `/logs/facets?fields=${fields.join(',')}&${encodeURI(query)}`)
        const rows = used.records.filter((row) => holds(row) && (key === used.acme.adminKey || row.workspaceId === used.acme.workspaceId))
        const wanted = fields.map((field) => {
          const counts = Map.groupBy(rows, (row) => {
            const value = facets[field]?.(row) ?? null
            return value === null ? null : String(value)
          })
          const values = [...counts].map(([value, { length }]) => ({ value, count: length }))
          return {
            field,
            complete: true,
            values: values.toSorted((one, other) => other.count - one.count || (String(one.value) < String(other.value) ? -1 : 1)),
          }
        })
        t.deepEqual(body, { object: 'log.facets', data: wanted }, text)
      },
    ),
    { numRuns: 40 },
  ),
)

test.serial('facets of unknown fields are refused; without fields those that roll-ups tell come', async (t) => {
  const { body } = await used.control.call(used.acme.adminKey, 'GET', '/logs/facets')
  const fields = (body['data'] as { field: string; complete: boolean }[]).map(({ field, complete }) =>
    complete ? field : `${field} of some`,
  )
  t.deepEqual(fields.toSorted(), [
    'ai_model',
    'ai_org',
    'api_key_ids',
    'cache_status',
    'configs',
    'outcome',
    'prompt_slug',
    'status_code',
    'user_id',
    'virtual_keys',
  ])
  for (const query of ['fields=colour', 'fields='])
    t.is((await used.control.call(used.acme.adminKey, 'GET', `/logs/facets?${query}`)).status, 400, query)
})
