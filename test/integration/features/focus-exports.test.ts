import test from 'ava'
import fc from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { decimal, inUnitsOf } from '../../../src/features/log-exports/focus/decimals.ts'
import { errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
test.before(async () => void (exporting = await startExporting()))
test.after.always(() => exporting.close())

type Cost = NonNullable<ExchangeRecord['cost']>

const line = (attempt: number, dimension: string, count: number, amount: bigint) => ({
  attempt,
  dimension,
  count,
  unit: dimension === 'audio_minute' ? 'millisecond' : 'token',
  rate: '2500000',
  amount: String(amount),
  source: 'catalogue',
  note: null,
})
const charge = (attempt: number, provider: string, priced: string) =>
  ({ attempt, provider, priced, sent: priced, answered: priced, slug: `${provider}-prod` }) as unknown as Cost['charges'][number]

const costOf = (amount: bigint | null, lines: Cost['lines'], charges: Cost['charges'] = []): Cost => ({
  amount: amount === null ? null : String(amount),
  state: amount === null ? 'unpriced' : 'priced',
  catalogue: 'prices-1',
  saved: null,
  lines,
  unpriced: [],
  charges,
})

type Row = Readonly<Record<string, string | number | null>>
async function rowsOf(wanted: object, key?: string): Promise<readonly Row[]> {
  const file = await exporting.whole({ kind: 'focus', requested_data: undefined, ...wanted }, key)
  return file
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Row)
}
/** Exact: a decimal text as pico-US-dollars. */
const picoOf = (text: unknown): bigint => {
  const [whole = '0', fraction = ''] = String(text).replace('-', '').split('.')
  return BigInt(whole + fraction.padEnd(12, '0')) * (String(text).startsWith('-') ? -1n : 1n)
}
const total = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + picoOf(row['BilledCost']), 0n)

const yesterday = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000
const at = (hour: number) => ({ createdAt: yesterday + hour * 3_600_000 + 60_000 })

test.serial('costs are rows of FOCUS, by day, model, dimension and the tags that are asked for', async (t) => {
  const { acme } = exporting
  const two = costOf(
    7_500_000n,
    [line(0, 'input', 1, 2_500_000n), line(1, 'output', 2, 5_000_000n)],
    [charge(0, 'openai', 'gpt-4o'), charge(1, 'anthropic', 'opus')],
  )
  const inputs = (env: string) => ({
    metadata: { env, note: 'x' },
    cost: costOf(2_500_000n, [line(0, 'input', 1, 2_500_000n)], [charge(0, 'openai', 'gpt-4o')]),
  })
  await exporting.ship([
    recordOf(acme, 0, { ...at(1), ...inputs('prod'), traceId: 'rows' }),
    recordOf(acme, 0, { ...at(2), ...inputs('prod'), traceId: 'rows' }),
    recordOf(acme, 0, { ...at(3), ...inputs('test'), traceId: 'rows' }),
    recordOf(acme, 0, { ...at(4), cost: two, metadata: {}, traceId: 'rows' }),
    recordOf(acme, 0, { ...at(5), cost: costOf(null, []), model: 'new', provider: 'openai', metadata: {}, traceId: 'rows' }),
  ])
  const filters = { trace_id: 'rows' }
  const estimated = (
    await exporting.control.call(acme.workspaceKey, 'POST', '/logs/exports/estimate', { kind: 'focus', filters, tag_keys: ['env'] })
  ).body
  const rows = await rowsOf({ filters, tag_keys: ['env'] })
  t.false(estimated['is_exact'])
  const share = Number(estimated['rows']) / rows.length
  t.true(share > 1 / 3 && share < 3, `${String(estimated['rows'])} of ${rows.length}`)
  t.true(Number(estimated['bytes']) > 300 * Number(estimated['rows']))
  const shown = rows.map((row) => [
    row['ProviderName'],
    row['SkuId'],
    row['SkuMeter'],
    row['ConsumedQuantity'],
    row['BilledCost'],
    row['Tags'],
    row['x_Requests'],
    row['x_PriceState'],
  ])
  t.deepEqual(
    shown.map((row) => JSON.stringify(row)).toSorted((one, other) => one.localeCompare(other)),
    [
      ['openai', 'openai/gpt-4o', 'input', '2', '0.000005', { env: 'prod' }, 2, 'priced'],
      ['openai', 'openai/gpt-4o', 'input', '1', '0.0000025', { env: 'test' }, 1, 'priced'],
      ['openai', 'openai/gpt-4o', 'input', '1', '0.0000025', {}, 1, 'priced'],
      ['anthropic', 'anthropic/opus', 'output', '2', '0.000005', {}, 1, 'priced'],
      ['openai', 'openai/new', null, '1', '0', {}, 1, 'unpriced'],
    ]
      .map((row) => JSON.stringify(row))
      .toSorted((one, other) => one.localeCompare(other)),
  )
  t.like(rows[0], {
    BillingAccountId: acme.organisationId,
    BillingAccountName: 'acme',
    BillingCurrency: 'USD',
    ChargeCategory: 'Usage',
    ChargeClass: null,
    ChargePeriodStart: new Date(yesterday).toISOString(),
    ChargePeriodEnd: new Date(yesterday + 86_400_000).toISOString(),
    SubAccountId: acme.workspaceId,
    SubAccountName: 'Main',
  })
  t.is((await rowsOf({ filters })).length, 3)
  t.is((await rowsOf({ filters, granularity: 'hour' })).length, 6)
  const parquet = await exporting.whole({ kind: 'focus', requested_data: undefined, format: 'parquet', filters, granularity: 'hour' })
  const read = await parquetReadObjects({ file: new Uint8Array(parquet).buffer })
  t.is(read.length, 6)
  t.true(read.every((row) => row['ChargePeriodStart'] instanceof Date && typeof row['BilledCost'] === 'string'))
  const csv = (await exporting.whole({ kind: 'focus', requested_data: undefined, format: 'csv', filters })).toString().split('\r\n')
  t.is(csv.length, 5)
  t.true(csv[0]?.startsWith('BilledCost,BillingAccountId,'))
})

test.serial('the sum of the rows is that of the costs with their adjustments, to the last digit', async (t) => {
  const { acme, control } = exporting
  const pico = fc.bigInt({ min: 0n, max: 10n ** 15n })
  const logs = fc.array(
    fc.record({
      hour: fc.integer({ min: 0, max: 23 }),
      amounts: fc.array(pico, { maxLength: 3 }),
      beyond: pico,
      delta: fc.option(fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n })),
    }),
    { minLength: 1, maxLength: 8 },
  )
  let round = 0
  await fc.assert(
    fc.asyncProperty(logs, async (given) => {
      round += 1
      const traceId = `sum ${round}`
      const records = given.map(({ hour, amounts, beyond }) =>
        recordOf(acme, 0, {
          ...at(hour),
          traceId,
          cost: costOf(
            amounts.reduce((sum, amount) => sum + amount, beyond),
            amounts.map((amount, index) => line(0, index === 0 ? 'input' : 'audio_minute', 1, amount)),
            [charge(0, 'openai', 'gpt-4o')],
          ),
        }),
      )
      await exporting.ship(records)
      let expected = records.reduce((sum, { cost }) => sum + BigInt(cost?.amount ?? 0), 0n)
      for (const [index, { delta }] of given.entries()) {
        if (delta === null) continue
        expected += delta
        await control.sql.query(
          `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
           VALUES ($1, gen_random_uuid(), $2, $3, $4, 0, 'priced', '[]')`,
          [acme.organisationId, records[index]?.id, new Date(records[index]?.createdAt ?? 0), String(delta)],
        )
      }
      for (const granularity of ['hour', 'day']) {
        const rows = await rowsOf({ filters: { trace_id: traceId }, granularity })
        t.is(total(rows), expected)
        t.is(
          rows.filter((row) => row['ChargeClass'] === 'Correction').length > 0,
          given.some(({ delta }) => delta !== null),
        )
      }
    }),
    { numRuns: 8 },
  )
})

test.serial('costs are those of the workspace, and not of another tenant', async (t) => {
  const { acme, rival } = exporting
  const cost = costOf(1n, [line(0, 'input', 1, 1n)])
  await exporting.ship([recordOf(acme, 0, { ...at(1), workspaceId: acme.sideId, cost }), recordOf(rival, 0, { ...at(1), cost })])
  t.is(total(await rowsOf({ filters: {} }, acme.sideKey)), 1n)
  t.is(total(await rowsOf({ filters: {} }, rival.adminKey)), 1n)
  const all = await rowsOf({ filters: {} }, acme.adminKey)
  t.is(new Set(all.map((row) => row['SubAccountId'])).symmetricDifference(new Set([acme.workspaceId, acme.sideId])).size, 0)
})

test.serial('an export of costs has no fields to choose, and one of logs no period; a denied field takes costs with it', async (t) => {
  const { acme, control } = exporting
  const refused = async (body: object) => errorOf(await control.call(acme.workspaceKey, 'POST', '/logs/exports', { filters: {}, ...body }))
  t.like(await refused({ kind: 'focus', requested_data: ['id'] }), { code: 'AB01', param: 'requested_data' })
  t.like(await refused({ requested_data: ['id'], granularity: 'day' }), { code: 'AB01', param: 'granularity' })
  t.like(await refused({ requested_data: ['id'], tag_keys: ['a'] }), { code: 'AB01', param: 'tag_keys' })
  t.like(await refused({}), { code: 'AB01', param: 'requested_data' })
  const deny = (fields: readonly string[]) =>
    control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { export_settings: { deniedFields: fields } } })
  await deny(['metadata'])
  t.like(await refused({ kind: 'focus', tag_keys: ['env'] }), { code: 'AB03' })
  const id = await exporting.draft({ kind: 'focus', requested_data: undefined })
  t.like((await control.call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body, { kind: 'focus', granularity: 'day', tag_keys: [] })
  t.is((await control.call(acme.workspaceKey, 'PUT', `/logs/exports/${id}`, { filters: {}, granularity: 'hour' })).status, 200)
  t.like((await control.call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body, { granularity: 'hour' })
  await deny(['cost'])
  t.like(await refused({ kind: 'focus' }), { code: 'AB03' })
  await deny([])
})

test('decimals have no exponent and lose nothing', (t) => {
  t.is(decimal(-25n, 1), '-2.5')
  t.is(decimal(1n, 12), '0.000000000001')
  t.is(decimal(10n ** 30n, 12), '1000000000000000000')
  t.is(inUnitsOf(90_000n, 60_000n), '1.5')
})
