import test from 'ava'
import fc from 'fast-check'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper, type Shipper } from '../../../src/app/journal/shipper.ts'
import { measureNames, type MeasureName } from '../../../src/features/analytics/measures.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let shipper: Shipper
/** A member of `side`, and their key. */
let ada: { readonly userId: string; readonly key: string }
let records: readonly ExchangeRecord[]

const directory = temporaryDirectory()
const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
const delta = 7_000_000_000n
const pick = <Value>(values: readonly Value[], at: number): Value => values[at % values.length] as Value

/** Differs in every trait; the numbers have no common period. */
function recordOf(tenant: Tenant, at: number): ExchangeRecord {
  const tokens = pick([null, at, at * 3], at)
  return exchangeRecord({
    organisationId: tenant.organisationId,
    workspaceId: pick([tenant.workspaceId, tenant.sideId], Math.floor(at / 3)),
    createdAt: Date.now() - at * 3_700_000,
    userId: pick([ada.userId, null, null], at),
    provider: pick(['openai', 'anthropic', null], at),
    providerSlug: pick(['p', 'q'], at),
    model: pick(['gpt-4o', 'o3', 'opus', null, 'haiku'], at),
    status: pick([200, 200, 429, 200, 500, 200, 404], at),
    outcome: pick(['complete', 'complete', 'client_closed'], at),
    durationMs: at * 11,
    cacheStatus: pick(['DISABLED', 'HIT', 'MISS', 'SEMANTIC HIT'], at),
    config: pick([null, { slug: 'c', version: 1 }], at),
    usage: tokens === null ? null : { ...exchangeRecord().usage, inputTokens: tokens, outputTokens: 1, totalTokens: tokens + 1 },
    cost:
      at % 5 === 0
        ? null
        : {
            amount: String(BigInt(at) * 1_000_000_007n),
            state: 'priced',
            catalogue: null,
            lines: [],
            unpriced: [],
            charges: [],
            saved: null,
          },
  } as Partial<ExchangeRecord>)
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  const other = await control.createTenant('other')
  const userId = await control.createUser(acme, { email: 'ada@acme.example', workspaces: { [acme.sideId]: 'member' } })
  ada = { userId, key: await control.createKey(acme, { workspaceId: acme.sideId, userId, scopes: userScopes }) }
  const { database } = control.started.deps.config
  const { runtime } = await connect(database, silent)
  shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent })
  records = Array.from({ length: 150 }, (_, at) => recordOf(acme, at + 1))
  for (const record of [...records, recordOf(other, 1)]) journal.append(record, exchangeBodies('{}', '{}'))
  await shipper.flushed()
  await control.sql.query(
    `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
     VALUES ($1, gen_random_uuid(), $2, now(), $3, 0, 'priced', '[]')`,
    [acme.organisationId, records[0]?.id, delta],
  )
})
test.after.always(async () => {
  await journal.close()
  await shipper.stop()
  directory.remove()
  await control.close()
})

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
function percentile(rows: Rows, part: number): number {
  const sorted = rows.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0]
  return low + (high - low) * (at - Math.floor(at))
}
const failed = ({ status, outcome }: ExchangeRecord) => status >= 400 || outcome !== 'complete'
const cacheIs = (rows: Rows, ...kinds: readonly string[]) => rows.filter(({ cacheStatus }) => kinds.includes(cacheStatus)).length
const picoOf = ({ id, cost }: ExchangeRecord) => BigInt(cost?.amount ?? 0) + (id === records[0]?.id ? delta : 0n)
const times = (rows: Rows) => rows.map(({ createdAt }) => createdAt)

/** Each figure as one reads it off the rows. */
const figures: Readonly<Record<MeasureName, (rows: Rows) => unknown>> = {
  cost: (rows) => Number(rows.reduce((total, row) => total + picoOf(row), 0n)) / 1e10,
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
  ['workspace_id=side', ({ workspaceId }) => workspaceId === acme.sideId],
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
})

const agree = (t: { deepEqual(a: unknown, b: unknown): unknown }, key: string, visible: Rows) =>
  fc.assert(
    fc.asyncProperty(asked, async ({ route, by, columns, filter: [query, holds] }) => {
      const given = columns.length === 0 ? '' : `&columns=${columns.join(',')}`
      const { body } = await control.call(key, 'GET', `${route}/${by}?${query}${given}`)
      const groups = expected(visible.filter(holds), by, columns)
      t.deepEqual(told(body), groups)
      t.deepEqual(body['total'], Object.keys(groups).length)
    }),
    { numRuns: 40 },
  )

test.serial('groups say what the raw rows say, for every trait, figure and filter', (t) => agree(t, acme.adminKey, records))

test.serial('what a member may not see is in no group and no figure', async (t) => {
  const settings = (membersViewAllData: boolean | null) =>
    control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData } })
  t.is((await settings(false)).status, 200)
  await control.refresh()
  const own = records.filter(({ userId, workspaceId }) => userId === ada.userId && workspaceId === acme.sideId)
  t.true(own.length > 0)
  await agree(t, ada.key, own)
  await settings(null)
  await control.refresh()
  await agree(
    t,
    ada.key,
    records.filter(({ workspaceId }) => workspaceId === acme.sideId),
  )
})

const at = (path: string) => control.call(acme.adminKey, 'GET', `/analytics/groups/${path}`)

test('without columns a group has only its count; pages and times bound the list; what is unknown is named', async (t) => {
  const first = await at('model?page_size=2')
  t.deepEqual(Object.keys((first.body['data'] as Group[])[0] ?? {}).toSorted(), ['key', 'object', 'requests'])
  const second = await at('model?page_size=2&current_page=1')
  t.is((second.body['data'] as Group[]).length, 2)
  t.is(new Set([...Object.keys(told(first.body)), ...Object.keys(told(second.body))]).size, 4)
  t.is((await at('model?time_of_generation_max=2001-01-01T00:00:00Z')).body['total'], 0)
  for (const path of ['colour', 'model?columns=colour', 'model?colour=red']) t.is((await at(path)).status, 400, path)
})
