import test from 'ava'
import fc from 'fast-check'
import { graphs } from '../../../src/features/analytics/graphs.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { startUsed, type UsedControl } from './used-control.ts'

let used: UsedControl
interface Rating {
  readonly traceId: string
  readonly value: number
  readonly weight: number
}
const ratings: readonly Rating[] = [
  { traceId: 'trace-3', value: 5, weight: 1 },
  { traceId: 'trace-3', value: -2, weight: 0.5 },
  { traceId: 'trace-7', value: 10, weight: 0.25 },
]

test.before(async () => {
  used = await startUsed()
  for (const { traceId, value, weight } of ratings)
    await used.control.call(used.acme.workspaceKey, 'POST', '/feedback', { trace_id: traceId, value, weight })
})
test.after.always(() => used.close())

type Rows = readonly ExchangeRecord[]
type Figures = Readonly<Record<string, unknown>>
interface Drawn {
  readonly summary: Figures
  readonly data_points: readonly Figures[]
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const meanOf = (values: readonly number[]) => sum(values) / values.length
const ratio = (some: number, all: number) => (all === 0 ? null : some / all)
const percent = (some: number, all: number) => (all === 0 ? null : (100 * some) / all)
const failed = ({ status, outcome }: ExchangeRecord) => status >= 400 || outcome !== 'complete'
const isSimple = ({ cacheStatus }: ExchangeRecord) => cacheStatus === 'HIT'
const isSemantic = ({ cacheStatus }: ExchangeRecord) => cacheStatus === 'SEMANTIC HIT'
const isHit = (row: ExchangeRecord) => isSimple(row) || isSemantic(row)
const asked = (rows: Rows) => rows.filter((row) => row.cacheStatus !== 'DISABLED')
const cents = (pico: bigint) => Number(pico) / 1e10
const costOf = (rows: Rows) => cents(rows.reduce((total, row) => total + used.picoOf(row), 0n))
const savedOf = (rows: Rows) => cents(rows.reduce((total, { cost }) => total + BigInt(cost?.saved ?? 0), 0n))
const meanMs = (rows: Rows) => ratio(sum(rows.map(({ durationMs }) => durationMs)), rows.length)
const tokensOf = (rows: Rows) => rows.flatMap(({ usage }) => (usage?.totalTokens === null || usage === null ? [] : [usage.totalTokens]))
const naming = (rows: Rows) => rows.filter(({ metadata }) => metadata['_user'] !== undefined)
const usersOf = (rows: Rows) => new Set(rows.flatMap(({ metadata }) => metadata['_user'] ?? [])).size
const percentile = (rows: Rows, share: number) =>
  rows.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other)[Math.ceil(rows.length * share) - 1] ?? null
const countedBy = (rows: Rows, value: (row: ExchangeRecord) => number, [name, counted]: readonly [string, string]) =>
  [...Map.groupBy(rows, value)].toSorted(([one], [other]) => one - other).map(([key, { length }]) => ({ [name]: key, [counted]: length }))

/** The expected values of a graph for some requests, as one reads them off the rows; a pair: of a point, and of all the time. */
type Reading = (rows: Rows) => Figures
const uniform = (reading: Reading) => ({ point: reading, total: reading })

const hitRate = (rows: Rows) => percent(rows.filter(isHit).length, asked(rows).length)
const retried = (rows: Rows) => rows.filter((row) => !failed(row) && row.retryCount > 0)
const fellBack = (rows: Rows) => rows.filter((row) => !failed(row) && new Set(row.attempts?.map(({ option }) => option)).size > 1)

/** The graphs of requests that have a point for each step. */
const readings: Readonly<Record<string, { readonly point: Reading; readonly total: Reading }>> = {
  requests: uniform((rows) => ({ total: rows.length })),
  cost: uniform((rows) => ({ total: costOf(rows), avg: ratio(costOf(rows), rows.length) })),
  latency: uniform((rows) => ({ avg: meanMs(rows), p50: percentile(rows, 0.5), p90: percentile(rows, 0.9), p99: percentile(rows, 0.99) })),
  tokens: uniform((rows) => ({ total: sum(tokensOf(rows)), avg: ratio(sum(tokensOf(rows)), tokensOf(rows).length) })),
  users: uniform((rows) => ({ total: usersOf(rows) })),
  'users/requests': {
    point: (rows) => ({ avg: ratio(naming(rows).length, usersOf(rows)) }),
    total: (rows) => ({ total: naming(rows).length, unique: usersOf(rows), avg: ratio(naming(rows).length, usersOf(rows)) }),
  },
  errors: uniform((rows) => ({ total: rows.filter(failed).length })),
  'errors/rate': uniform((rows) => ({ rate: percent(rows.filter(failed).length, rows.length) })),
  'errors/stacks': {
    point: (rows) => ({ stats: countedBy(rows.filter(failed), ({ status }) => status, ['response_status_code', 'count']) }),
    total: (rows) => ({ total: rows.filter(failed).length }),
  },
  'requests/rescued': {
    point: (rows) => ({
      retry: countedBy(retried(rows), ({ retryCount }) => retryCount, ['retry_success_count', 'count']),
      fallback: fellBack(rows).length,
    }),
    total: (rows) => ({ retry: retried(rows).length, fallback: fellBack(rows).length }),
  },
  'cache/latency': uniform((rows) => ({ avg: meanMs(rows.filter(isHit)) })),
  'cache/hit-rate': {
    point: (rows) => ({ simple_hits: rows.filter(isSimple).length, semantic_hits: rows.filter(isSemantic).length, rate: hitRate(rows) }),
    total: (rows) => ({ total: rows.filter(isHit).length, rate: hitRate(rows) }),
  },
}

const filters: readonly (readonly [string, (record: ExchangeRecord) => boolean])[] = [
  ['', () => true],
  ['ai_model=o3', ({ model }) => model === 'o3'],
  ['status_code=200', ({ status }) => status === 200],
  ['total_units_min=50', ({ usage }) => (usage?.totalTokens ?? 0) >= 50],
  ['metadata={"env":"prod"}', ({ metadata }) => metadata['env'] === 'prod'],
  ['workspace_slug=side', ({ workspaceId }) => workspaceId === used.acme.sideId],
]

const minuteMs = 60_000
const [hourMs, dayMs] = [60 * minuteMs, 24 * 60 * minuteMs]
const stepOf = (ms: number) => (ms <= 3 * hourMs ? minuteMs : ms <= 3 * dayMs ? hourMs : dayMs)

/** Percentiles are at most 1.8 % off, users at most one of these few; other figures differ in the last digits of a number only. */
function agrees(told: unknown, wanted: unknown, name = ''): boolean {
  if (Array.isArray(wanted)) return Array.isArray(told) && told.length === wanted.length && wanted.every((one, at) => agrees(told[at], one))
  if (typeof wanted === 'object' && wanted !== null)
    return Object.entries(wanted).every(([key, value]) => agrees((told as Figures | undefined)?.[key], value, key))
  if (typeof wanted !== 'number') return told === wanted
  const tolerance = /^p\d\d/.test(name) ? 0.018 : 1e-9
  return typeof told === 'number' && Math.abs(told - wanted) <= Math.abs(wanted) * tolerance
}

const draw = async (key: string, path: string) => {
  const { body, status } = await used.control.call(key, 'GET', `/analytics/graphs/${path}`)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body as unknown as Drawn
}

const question = fc.record({
  graph: fc.constantFrom(...Object.keys(readings)),
  filter: fc.constantFrom(...filters),
  /** Seconds. */
  ends: fc.integer({ min: 0, max: 6 * 24 * 3600 }),
  lasts: fc.oneof(fc.integer({ min: 1, max: 3 * 3600 }), fc.integer({ min: 3 * 3600, max: 7 * 24 * 3600 })),
})

const agree = (t: { true(value: boolean, message: string): unknown }, key: string, visible: Rows) =>
  fc.assert(
    fc.asyncProperty(question, async ({ graph, filter: [query, holds], ends, lasts }) => {
      const to = Date.now() - ends * 1000
      const from = to - lasts * 1000
      const step = stepOf(to - from)
      const bounds = `time_of_generation_min=${new Date(from).toISOString()}&time_of_generation_max=${new Date(to).toISOString()}`
      const drawn = await draw(key, `${graph}?${bounds}&${encodeURI(query)}`)
      const rows = visible.filter((row) => holds(row) && row.createdAt >= from && row.createdAt <= to)
      const reading = readings[graph]
      const begins = Array.from(
        { length: Math.floor(to / step) - Math.floor(from / step) + 1 },
        (_, at) => (Math.floor(from / step) + at) * step,
      )
      const points = begins.map((begin) =>
        Object.assign(
          { timestamp: new Date(begin).toISOString() },
          reading?.point(rows.filter(({ createdAt }) => Math.floor(createdAt / step) * step === begin)),
        ),
      )
      const wanted = { summary: reading?.total(rows), data_points: points }
      t.true(agrees(drawn, wanted), `${graph} ${query} ${bounds}\n${JSON.stringify(drawn)}\n${JSON.stringify(wanted)}`)
    }),
    { numRuns: 80 },
  )

test.serial('graphs say what the raw rows say, for every figure, filter and range', (t) => agree(t, used.acme.adminKey, used.records))

test.serial('what a member may not see is in no graph', async (t) => {
  const settings = (membersViewAllData: boolean | null) =>
    used.control.call(used.acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData } })
  t.is((await settings(false)).status, 200)
  await used.control.refresh()
  const own = used.records.filter(({ userId, workspaceId }) => userId === used.ada.userId && workspaceId === used.acme.sideId)
  await agree(t, used.ada.key, own)
  await settings(null)
  await used.control.refresh()
})

const overview: Readonly<Record<string, (rows: Rows) => number | null>> = {
  requests: (rows) => rows.length,
  users: usersOf,
  cost: costOf,
  total_tokens: (rows) => sum(tokensOf(rows)),
  avg_tokens: (rows) => ratio(sum(tokensOf(rows)), tokensOf(rows).length),
  avg_latency: meanMs,
  p95_latency: (rows) => percentile(rows, 0.95),
  p99_latency: (rows) => percentile(rows, 0.99),
  success_rate: (rows) => percent(rows.filter((row) => !failed(row)).length, rows.length),
  error_count: (rows) => rows.filter(failed).length,
  cache_hit_rate: hitRate,
}
const tellAll = (measures: readonly string[], rows: Rows) => Object.fromEntries(measures.map((name) => [name, overview[name]?.(rows)]))

const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Pacific/Auckland'] as const
const clocks = new Map<string, Intl.DateTimeFormat>(
  zones.map((timeZone) => [timeZone, new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })]),
)

/** Milliseconds that the clock of a zone is ahead of UTC. */
function aheadOf(zone: string, ms: number): number {
  const parts = clocks.get(zone)?.format(ms) ?? ''
  return Date.parse(`${parts.replace(' ', 'T')}Z`) - Math.floor(ms / 1000) * 1000
}

/** The begin of the step of a zone that a time is in. */
function beginIn(zone: string, interval: string, ms: number): number {
  if (interval === 'minute' || interval === 'hour') return ms - (ms % (interval === 'minute' ? minuteMs : hourMs))
  const local = new Date(ms + aheadOf(zone, ms))
  local.setUTCHours(0, 0, 0, 0)
  if (interval === 'week') local.setUTCDate(local.getUTCDate() - ((local.getUTCDay() + 6) % 7))
  if (interval === 'month') local.setUTCDate(1)
  return local.getTime() - aheadOf(zone, local.getTime() - aheadOf(zone, ms))
}

const overviewQuestion = fc.record({
  measures: fc.subarray(Object.keys(overview), { minLength: 1 }),
  filter: fc.constantFrom(...filters),
  zone: fc.constantFrom(...zones),
  interval: fc.constantFrom('hour', 'day', 'week', 'month'),
  ends: fc.integer({ min: 0, max: 3 * 24 * 3600 }),
  lasts: fc.integer({ min: 3600, max: 7 * 24 * 3600 }),
})

interface Overview extends Drawn {
  readonly previous: (Drawn & { readonly time_of_generation_max: string }) | null
}

test.serial('an overview says what the raw rows say, in each zone, and of the time before', (t) =>
  fc.assert(
    fc.asyncProperty(overviewQuestion, async ({ measures, filter: [query, holds], zone, interval, ends, lasts }) => {
      const to = Date.now() - ends * 1000
      const from = to - lasts * 1000
      const bounds = `time_of_generation_min=${new Date(from).toISOString()}&time_of_generation_max=${new Date(to).toISOString()}`
      const path = `/analytics/overview?measures=${measures.join(',')}&interval=${interval}&timezone=${zone}&compare=previous&${bounds}&${encodeURI(query)}`
      const { body, text } = await used.control.call(used.acme.adminKey, 'GET', path)
      const wanted = (least: number, most: number) => {
        const rows = used.records.filter((row) => holds(row) && row.createdAt >= least && row.createdAt <= most)
        const begins = new Set<number>()
        for (let at = least; at <= most; at += 30 * minuteMs) begins.add(beginIn(zone, interval, at))
        begins.add(beginIn(zone, interval, most))
        const points = [...begins].map((begin) =>
          Object.assign(
            { timestamp: new Date(begin).toISOString() },
            tellAll(
              measures,
              rows.filter(({ createdAt }) => beginIn(zone, interval, createdAt) === begin),
            ),
          ),
        )
        return { summary: tellAll(measures, rows), data_points: points }
      }
      const { previous, ...now } = body as unknown as Overview
      const message = `${path}\n${text}`
      t.true(agrees(now, wanted(from, to)), `${message}\n${JSON.stringify(wanted(from, to))}`)
      t.true(agrees(previous, wanted(2 * from - to - 1, from - 1)), `${message}\n${JSON.stringify(wanted(2 * from - to - 1, from - 1))}`)
      t.deepEqual(Object.keys(now.summary).toSorted(), measures.toSorted())
    }),
    { numRuns: 60 },
  ),
)

const overviewOf = (query: string) => used.control.call(used.acme.adminKey, 'GET', `/analytics/overview?${query}`)

test('days of an overview follow the clocks of its zone; what was not asked for is not there', async (t) => {
  const { body } = await overviewOf(
    'timezone=Europe/Paris&interval=day&measures=requests&time_of_generation_min=2026-03-28T12:00:00Z&time_of_generation_max=2026-03-30T12:00:00Z',
  )
  t.deepEqual(body, {
    object: 'analytics-overview',
    interval: 'day',
    timezone: 'Europe/Paris',
    time_of_generation_min: '2026-03-28T12:00:00.000Z',
    time_of_generation_max: '2026-03-30T12:00:00.000Z',
    summary: { requests: 0 },
    data_points: ['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'].map((timestamp) => ({
      timestamp,
      requests: 0,
    })),
    previous: null,
  })
  const kolkata = await overviewOf('timezone=Asia/Kolkata&measures=requests')
  const counts = (kolkata.body as unknown as Drawn).data_points.map(({ requests }) => Number(requests))
  t.is(sum(counts), used.records.length)
})

const since = (ms: number) => `time_of_generation_min=${new Date(Date.now() - ms).toISOString()}`

test('an interval that is not chosen fits the range; wrong questions are named', async (t) => {
  for (const [ms, interval] of [
    [hourMs, 'minute'],
    [dayMs, 'hour'],
    [30 * dayMs, 'day'],
    [365 * dayMs, 'week'],
    [1000 * dayMs, 'month'],
  ] as const)
    t.is((await overviewOf(since(ms))).body['interval'], interval)
  for (const [query, param] of [
    ['measures=colour', 'measures[0]'],
    ['measures=', 'measures[0]'],
    ['interval=year', 'interval'],
    ['interval=minute', 'interval'],
    ['timezone=Mars/Olympus', 'timezone'],
    [`timezone=${encodeURIComponent("UTC'")}`, 'timezone'],
    ['timezone=%2B05:30', 'timezone'],
    ['compare=next', 'compare'],
  ] as const) {
    const { status, body } = await overviewOf(query)
    t.is(status, 400, query)
    t.like(body['error'], { code: 'AB01', param }, query)
  }
})

test('savings of the cache add up over time', async (t) => {
  const { data_points: points } = await draw(used.acme.adminKey, 'cache/hit-rate')
  t.true(agrees(points.at(-1)?.['cumulative_simple_cache_savings'], savedOf(used.records.filter(isSimple))))
  t.true(agrees(points.at(-1)?.['cumulative_semantic_cache_savings'], savedOf(used.records.filter(isSemantic))))
  const series = points.map((point) => Number(point['cumulative_simple_cache_savings']))
  t.deepEqual(
    series,
    series.toSorted((one, other) => one - other),
  )
})

test('statuses of errors, and feedback by score, over time, weighted and by model', async (t) => {
  const statuses = await draw(used.acme.adminKey, 'errors/status-codes')
  const errors = used.records.filter(failed)
  t.deepEqual(
    statuses.data_points,
    countedBy(errors, ({ status }) => status, ['status_code', 'count']),
  )
  t.deepEqual(statuses.summary, { total_errors: errors.length, unique_error_codes: new Set(errors.map(({ status }) => status)).size })
  t.is((await draw(used.acme.adminKey, 'feedbacks')).summary['total'], 3)
  t.deepEqual((await draw(used.acme.adminKey, 'feedbacks/scores')).data_points, [
    { score: -2, total: 1 },
    { score: 5, total: 1 },
    { score: 10, total: 1 },
  ])
  t.true(agrees((await draw(used.acme.adminKey, 'feedbacks/weighted')).summary, { avg: meanOf([5, -1, 2.5]) }))
  const workspace = used.acme.workspaceId
  const models = (traceId: string) =>
    new Set(used.records.flatMap((row) => (row.traceId === traceId && row.workspaceId === workspace ? (row.model ?? []) : [])))
  const byModel = await draw(used.acme.adminKey, 'feedbacks/ai-models')
  for (const { ai_model: model, total, avg_weighted_feedback: average } of byModel.data_points) {
    const rated = ratings.filter(({ traceId }) => models(traceId).has(String(model)))
    t.true(
      agrees({ total, average }, { total: rated.length, average: meanOf(rated.map(({ value, weight }) => value * weight)) }),
      String(model),
    )
  }
  t.true(byModel.data_points.length > 0)
  t.is((await draw(used.acme.adminKey, 'feedbacks?trace_id=trace-7')).summary['total'], 1)
})

test('the cache in one line, and groups by user, model and metadata', async (t) => {
  const { body } = await used.control.call(used.acme.adminKey, 'GET', '/analytics/summary/cache')
  const [hits, others] = [used.records.filter(isHit), used.records.filter((row) => !isHit(row))]
  const wanted = {
    hits: hits.length,
    total_requests: used.records.length,
    avg_latency: meanMs(hits),
    cache_speedup: (meanMs(others) ?? 0) / (meanMs(hits) ?? 1),
  }
  t.true(agrees(body['summary'], wanted), JSON.stringify([body, wanted]))
  const groups = async (path: string) =>
    (await used.control.call(used.acme.adminKey, 'GET', `/analytics/groups/${path}`)).body['data'] as readonly Figures[]
  for (const { user, requests, cost } of await groups('users')) {
    const rows = used.records.filter(({ metadata }) => metadata['_user'] === user)
    t.true(agrees([requests, Number(cost)], [String(rows.length), costOf(rows)]), String(user))
  }
  for (const { ai_model: model, requests } of await groups('ai-models'))
    t.is(requests, String(used.records.filter((row) => row.model === model).length))
  const [prod] = await groups('metadata/env')
  const rows = used.records.filter(({ metadata }) => metadata['env'] === 'prod')
  const rated = rows.filter((row) => row.workspaceId === used.acme.workspaceId && ratings.some(({ traceId }) => traceId === row.traceId))
  t.true(
    agrees(prod, { metadata_value: 'prod', requests: rows.length, cost: costOf(rows), requests_with_feedback: rated.length }),
    JSON.stringify(prod),
  )
  t.deepEqual(await groups('metadata/colour'), [])
})

test('every graph has a path; what is wrong is named', async (t) => {
  for (const name of Object.keys(graphs)) t.is((await draw(used.acme.adminKey, name)) && true, true, name)
  for (const query of [
    'colour=red',
    'time_of_generation_min=yesterday',
    'time_of_generation_min=1999-01-01T00:00:00Z',
    'workspace_slug=nowhere',
  ]) {
    const { status, body } = await used.control.call(used.acme.adminKey, 'GET', `/analytics/graphs/requests?${query}`)
    t.true([400, 404].includes(status), `${query} ${status}`)
    t.regex(JSON.stringify(body), new RegExp(query.replace(/=.*/, '').replace('workspace_slug', 'workspace')), query)
  }
})

test('groups by workspace and more, with a bound of costs', async (t) => {
  const { body } = await used.control.call(
    used.acme.adminKey,
    'GET',
    '/analytics/groups/workspaces?group_by=model,status_code&columns=cost,p95_latency&cost_min=2&page_size=100',
  )
  const rows = used.records.filter((row) => used.picoOf(row) >= 20_000_000_000n && row.cost !== null)
  const groups = Map.groupBy(rows, ({ workspaceId, model, status }) => JSON.stringify([workspaceId, model, String(status)]))
  const told = body['data'] as readonly (Figures & { readonly keys: Readonly<Record<string, string | null>> })[]
  t.is(told.length, groups.size)
  for (const { workspace_id: id, workspace_slug: slug, keys, requests, cost, p95_latency: p95 } of told) {
    const own = groups.get(JSON.stringify([id, keys['model'], keys['status_code']])) ?? []
    t.true(agrees({ requests, cost, p95 }, { requests: own.length, cost: costOf(own), p95: percentile(own, 0.95) }), JSON.stringify(keys))
    t.is(slug === 'side', id === used.acme.sideId)
  }
  const { status, text } = await used.control.call(used.acme.adminKey, 'GET', '/analytics/groups/workspaces?group_by=colour')
  t.deepEqual([status, text.includes('group_by')], [400, true])
})

test.serial('an archived workspace is named by its slug; its figures stay', async (t) => {
  const side = `/analytics/graphs/requests?workspace_slug=${used.acme.sideId}`
  const before = (await used.control.call(used.acme.adminKey, 'GET', side)).body['summary']
  await used.control.sql.query(`UPDATE workspaces SET status = 'archived' WHERE id = $1`, [used.acme.sideId])
  t.deepEqual((await used.control.call(used.acme.adminKey, 'GET', side)).body['summary'], before)
  await used.control.sql.query(`UPDATE workspaces SET status = 'active' WHERE id = $1`, [used.acme.sideId])
})

const letMembersView = (membersViewAnalytics: boolean | null) =>
  used.control.call(used.acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAnalytics } })

async function statusForMember(): Promise<number> {
  await used.control.refresh()
  return (await used.control.call(used.ada.key, 'GET', '/analytics/graphs/requests')).status
}

test.serial('members may be kept from analytics', async (t) => {
  t.is(await statusForMember(), 200)
  await letMembersView(false)
  t.is(await statusForMember(), 403)
  await letMembersView(null)
  t.is(await statusForMember(), 200)
})
