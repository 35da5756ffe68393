import test from 'ava'
import { fillUsage, settleUsage } from '../../../src/features/analytics/analytics.jobs.ts'
import { startUsed, usedRecord, type UsedControl } from './used-control.ts'

let used: UsedControl
test.before(async () => void (used = await startUsed()))
test.after.always(() => used.close())

const tables = ['usage_hours', 'usage_days', 'usage_user_hours', 'usage_user_days'] as const

type Row = Readonly<Record<string, unknown>>

async function rowsOf(table: string): Promise<readonly Row[]> {
  const order = table.includes('user') ? 'workspace_id, cell' : 'key'
  const { rows } = await used.control.sql.query<Row>(`SELECT * FROM ${table} ORDER BY organisation_id, bucket, ${order}`)
  return rows.map((row) => Object.assign({}, row, 'latency' in row && { latency: histogramOf(row['latency'] as string[]) }))
}

/** The rows of each roll-up, in an order, with histograms in one form: a bucket may be there more than once. */
async function rollUps(): Promise<Readonly<Record<string, readonly Row[]>>> {
  const all = await Promise.all(tables.map(async (table) => [table, await rowsOf(table)] as const))
  return Object.fromEntries(all)
}

function histogramOf(cells: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const cell of cells.map(BigInt)) {
    const bucket = String(cell >> 32n)
    counts[bucket] = (counts[bucket] ?? 0) + Number(cell & 0xff_ff_ff_ffn)
  }
  return counts
}

/** Latencies by the first trait of all, and users, as one table or the other has them. */
const merging = async () => {
  const graph = await used.control.call(used.acme.adminKey, 'GET', '/analytics/graphs/latency')
  const groups = await used.control.call(used.acme.adminKey, 'GET', '/analytics/groups/model?columns=p95_latency,p99_latency')
  const users = await Promise.all(
    ['', '?workspace_slug=main', '?workspace_slug=side'].map((query) =>
      used.control.call(used.acme.adminKey, 'GET', `/analytics/graphs/users${query}`),
    ),
  )
  return [
    graph.body['summary'],
    graph.body['data_points'],
    groups.body['data'],
    users.map(({ body }) => [body['summary'], body['data_points']]),
  ]
}
const settledDays = async () =>
  (await used.control.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM usage_settled_days')).rows[0]?.n ?? NaN

const complete = (from: string) => used.control.sql.query(`UPDATE usage_state SET complete_from = ${from}`)
const tomorrow = `date_trunc('day', now(), 'UTC') + interval '1 day'`

test.serial('roll-ups are what the logs say, adjustments, late logs and repeated ones included', async (t) => {
  await used.ship([usedRecord(used.acme, used.ada.userId, 77), usedRecord(used.acme, used.ada.userId, 3)])
  // A batch that is shipped again after a crash inserts no row, and so counts nothing.
  await used.control.sql.query('INSERT INTO logs SELECT * FROM logs ON CONFLICT DO NOTHING')
  await used.control.sql.query(
    `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
     SELECT organisation_id, gen_random_uuid(), id, created_at, -17, 0, 'priced', '[]' FROM logs`,
  )
  const counted = await rollUps()
  for (const table of tables) await used.control.sql.query(`DELETE FROM ${table}`)
  await complete(tomorrow)
  await fillUsage.run(used.control.started.deps)
  t.deepEqual(await rollUps(), counted)
  t.true((counted['usage_hours']?.length ?? 0) > 100)
  t.true((counted['usage_user_days']?.length ?? 0) > 10)
})

test.serial('latencies and users are the same from days that are settled; a late log takes its day back', async (t) => {
  await settleUsage.run(used.control.started.deps)
  const days = await settledDays()
  t.true(days >= 6)
  const merged = await merging()
  t.is((await used.control.sql.query('SELECT FROM usage_settled_user_days')).rowCount, days)
  await used.control.sql.query('DELETE FROM usage_settled_days; DELETE FROM usage_settled_user_days')
  t.deepEqual(await merging(), merged)
  await settleUsage.run(used.control.started.deps)
  await used.ship([{ ...usedRecord(used.acme, used.ada.userId, 50), durationMs: 1_000_000, metadata: { _user: 'late' } }])
  t.is(await settledDays(), days - 1)
  t.is((await used.control.sql.query('SELECT FROM usage_settled_user_days')).rowCount, days - 1)
  const late = await merging()
  t.notDeepEqual(late, merged)
  await settleUsage.run(used.control.started.deps)
  t.is(await settledDays(), days)
  t.deepEqual(await merging(), late)
})

test.serial(
  'logs from before the roll-ups are counted in slices, late and adjusted ones once, and are in the figures all the time',
  async (t) => {
    for (const table of tables) await used.control.sql.query(`DELETE FROM ${table}`)
    await complete(tomorrow)
    const figures = async () => {
      const [requests, cost] = await Promise.all(
        ['requests', 'cost'].map(
          async (name) => (await used.control.call(used.acme.adminKey, 'GET', `/analytics/graphs/${name}`)).body['summary'],
        ),
      )
      return [requests, cost] as readonly [{ readonly total: number }, { readonly total: number }]
    }
    const fill = (most: number) => used.control.sql.query<{ more: boolean }>('SELECT fill_usage($1) AS more', [most])
    const [before] = await figures()
    t.true(before.total > 150)
    let late = 0
    for (let more = true; more;) {
      more = (await fill(20)).rows[0]?.more ?? false
      const now = await figures()
      t.is(now[0].total, before.total + late)
      late += 1
      // A log of a time that is counted already, or not yet: it is unknown which.
      await used.ship([usedRecord(used.acme, used.ada.userId, late * 13)])
      await used.control.sql.query(
        `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
       SELECT organisation_id, gen_random_uuid(), id, created_at, 10000000000, 0, 'priced', '[]' FROM logs ORDER BY created_at OFFSET $1 LIMIT 1`,
        [late * 17],
      )
    }
    t.true(late >= 8)
    const counted = await rollUps()
    const told = await figures()
    for (const table of tables) await used.control.sql.query(`DELETE FROM ${table}`)
    await complete(tomorrow)
    // From the logs themselves.
    t.deepEqual(await figures(), told)
    await fillUsage.run(used.control.started.deps)
    t.deepEqual(await rollUps(), counted)
    const state = await used.control.sql.query<{ at: string }>('SELECT complete_from::text AS at FROM usage_state')
    t.is(state.rows[0]?.at, '-infinity')
  },
)

test.serial('figures stay when logs are gone; a range then begins with a whole hour', async (t) => {
  const at = Date.now() - 120 * 24 * 3_600_000
  const begin = Math.floor(at / 3_600_000) * 3_600_000
  await used.ship([{ ...usedRecord(used.acme, used.ada.userId, 1), createdAt: begin + 1000 }])
  const ask = (path: string) => used.control.call(used.acme.adminKey, 'GET', path)
  const bounds = `time_of_generation_min=${new Date(begin + 60_000).toISOString()}&time_of_generation_max=${new Date(begin + 5 * 3_600_000).toISOString()}`
  const total = async () => ((await ask(`/analytics/graphs/requests?${bounds}`)).body['summary'] as { total: number }).total
  t.is(await total(), 1)
  await used.control.sql.query("SELECT drop_log_partitions((now() - interval '90 days')::date)")
  t.is(await total(), 1)
})
