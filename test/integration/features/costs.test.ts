import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper, type Shipper } from '../../../src/app/journal/shipper.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import type { ExchangeRecord, LoggedCost } from '../../../src/gateway/ports.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let shipper: Shipper
const directory = temporaryDirectory()
const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
const day = Date.UTC(2026, 4, 1)

test.before(async () => {
  control = await startControl()
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
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

const facts = { mode: null, geo: null, region: null, size: null, quality: null, hasTokens: true }

/** The cost of 100 tokens of the prompt of gpt-4o, as an older list had it. */
function costOf(state: LoggedCost['state'], amount: string | null, more: object = {}): LoggedCost {
  const charge = {
    attempt: 0,
    provider: 'openai',
    sent: 'gpt-4o',
    answered: null,
    priced: null,
    recalled: false,
    slug: null,
    skipped: false,
  }
  const figures = { reported: null, estimated: false, inconsistent: false, usage: null }
  const counts = { input: 100 }
  const charges = [{ ...charge, ...figures, counts, ...more, facts: { ...facts, startedAt: day, promptTokens: 100 } }]
  return { state, amount, catalogue: 'old', saved: null, lines: [], unpriced: [], charges }
}

async function log(tenant: Tenant, traceId: string, fields: readonly Partial<ExchangeRecord>[]): Promise<readonly string[]> {
  const records = fields.map((one, index) => {
    const { organisationId, workspaceId } = tenant
    const target = { provider: 'openai', model: 'gpt-4o', traceId, createdAt: day + index }
    const record = exchangeRecord({ organisationId, workspaceId, ...target, ...one })
    journal.append(record, exchangeBodies('{}', '{}'))
    return record.id
  })
  await shipper.flushed()
  return records
}

const range = { start: '2026-05-01T00:00:00Z', end: '2026-05-02T00:00:00Z' }
const recompute = (body: object, tenant = acme) => control.call(tenant.adminKey, 'POST', '/costs/recompute', { ...range, ...body })
const costBy = async (id: string | undefined) => (await control.call(acme.workspaceKey, 'GET', `/logs/${id}/cost`)).body

test.serial('a recompute tells first, then writes beside the first cost, and changes nothing when it is repeated', async (t) => {
  const ids = await log(acme, 'prices', [
    { cost: costOf('unpriced', null) },
    { cost: costOf('priced', '300000000') },
    { cost: costOf('priced', '250000000') },
    { cost: costOf('not_charged', '0', { recalled: true }) },
    { cost: costOf('not_charged', '0', { skipped: true }) },
    { cost: costOf('priced', '77', { sent: 'gpt-of-tomorrow' }) },
    { cost: null },
  ])
  await log(other, 'prices', [{ cost: costOf('unpriced', null) }])
  const dry = await recompute({})
  t.is(dry.status, 200, dry.text)
  const figures = {
    requests: 6,
    changed: 2,
    before_pico_usd: '550000077',
    after_pico_usd: '750000077',
    delta_pico_usd: '200000000',
    unpriced_before: 1,
    unpriced_after: 0,
  }
  t.like(dry.body, { object: 'cost.recompute', dry_run: true, ...figures, has_more: false, next_after: null })
  t.deepEqual(dry.body['models'], [{ provider: 'openai', model: 'gpt-4o', ...figures }])
  t.like(await costBy(ids[0]), { total_pico_usd: null, adjustments: [] })

  const done = await recompute({ dry_run: false, reason: 'a newer list' })
  t.like(done.body, { dry_run: false, ...figures })
  t.like(await costBy(ids[0]), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: '250000000' })
  const [adjustment] = (await costBy(ids[1]))['adjustments'] as Readonly<Record<string, unknown>>[]
  t.like(adjustment, { delta_pico_usd: '-50000000', cost_pico_usd: '250000000', state: 'priced', reason: 'a newer list' })
  t.like(adjustment?.['lines'], [{ dimension: 'input', count: 100, rate_pico_usd: '2500000', amount_pico_usd: '250000000' }])
  t.like(await costBy(ids[1]), { cost_pico_usd: '300000000', total_pico_usd: '250000000' })
  const listed = await control.call(acme.workspaceKey, 'GET', '/logs?trace_id=prices&order=asc')
  t.like((listed.body['data'] as object[])[1], { cost: 0.03, cost_pico_usd: '300000000', total_cost_pico_usd: '250000000' })
  t.like((await recompute({ dry_run: false })).body, { requests: 6, changed: 0, delta_pico_usd: '0', before_pico_usd: '750000077' })
  t.like((await recompute({}, other)).body, { requests: 1, changed: 1 })
})

test.serial('filters go by what the logs are now; pages follow one another', async (t) => {
  await log(
    acme,
    'pages',
    Array.from({ length: 5 }, (_, index) => ({ createdAt: day + 3_600_000 + index, cost: costOf('unpriced', null) })),
  )
  t.like((await recompute({ filters: { cost_state: ['unpriced'] } })).body, { requests: 5, changed: 5 })
  const first = await recompute({ filters: { cost_state: ['unpriced'] }, limit: 2, dry_run: false })
  t.like(first.body, { requests: 2, changed: 2, has_more: true })
  const { id, next_after: after } = first.body
  const second = await recompute({ filters: { cost_state: ['unpriced'] }, after, recompute_id: id, dry_run: false })
  t.like(second.body, { id, requests: 3, changed: 3, has_more: false })
  t.like((await recompute({ filters: { cost_state: ['unpriced'], model: ['gpt-4o'] } })).body, { requests: 0 })
  t.like((await recompute({ filters: { provider: ['anthropic'] } })).body, { requests: 0 })
})

const run = (model: string, input: number, output: number) => ({ type: 'message', model, input_tokens: input, output_tokens: output })

test.serial('a recompute of an answer that several models made prices each run again', async (t) => {
  const usage = { input_tokens: 10, output_tokens: 20, iterations: [run('claude-sonnet-4-5', 100, 7), run('claude-opus-4-6', 10, 20)] }
  const claude = { provider: 'anthropic', sent: 'claude-opus-4-6', usage, counts: { input: 110, output: 27 } }
  const [id] = await log(acme, 'runs', [{ provider: 'anthropic', model: 'claude-opus-4-6', cost: costOf('unpriced', null, claude) }])
  t.like(await recompute({ dry_run: false, filters: { model: ['claude-opus-4-6'] } }), { status: 200, body: { changed: 1 } })
  // Sonnet 3.00 and 15.00, Opus 5.00 and 25.00: 300,000,000 + 105,000,000 + 50,000,000 + 500,000,000
  t.like(await costBy(id), { total_pico_usd: '955000000' })
})

test.serial('the terms of an integration hold for what went by its provider', async (t) => {
  const integration = await control.call(acme.workspaceKey, 'POST', '/integrations', {
    name: 'Rebate',
    ai_provider_id: 'openai',
    key: 'sk-x',
    configurations: {},
    pricing_adjustments: { multiplier: { default: 0.5 } },
  })
  t.is(integration.status, 200, integration.text)
  await log(acme, 'terms', [
    { createdAt: day + 7_200_000, providerSlug: 'rebate', cost: costOf('priced', '250000000', { slug: 'rebate' }) },
  ])
  const { body } = await recompute({ start: '2026-05-01T02:00:00Z' })
  t.like(body, { requests: 1, changed: 1, delta_pico_usd: '-125000000' })
})

test.serial('provisioned throughput is not charged where its integration says so', async (t) => {
  const integration = await control.call(acme.workspaceKey, 'POST', '/integrations', {
    name: 'Reserved',
    ai_provider_id: 'vertex-ai',
    key: 'ya29.x',
    configurations: { vertex_auth_type: 'basic', vertex_region: 'global', vertex_project_id: 'p', vertex_skip_ptu_cost_attribution: true },
  })
  t.is(integration.status, 200, integration.text)
  await log(acme, 'ptu', [
    { createdAt: day + 10_800_000, providerSlug: 'reserved', cost: costOf('priced', '250000000', { slug: 'reserved' }) },
  ])
  const { body } = await recompute({ start: '2026-05-01T03:00:00Z' })
  t.like(body, { requests: 1, changed: 1, after_pico_usd: '0' })
})

test.serial('only admin keys of the organisation recompute; an empty range is told', async (t) => {
  t.is((await control.call(acme.workspaceKey, 'POST', '/costs/recompute', range)).status, 403)
  const empty = await recompute({ end: range.start })
  t.is(empty.status, 400)
  t.regex(empty.text, /must be after/)
})
