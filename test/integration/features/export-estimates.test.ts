import { createHash } from 'node:crypto'
import test from 'ava'
import { makeExports } from '../../../src/features/log-exports/exports.jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)
const logs = 600

test.before(async () => {
  exporting = await startExporting()
  const { acme, rival } = exporting
  await exporting.ship([
    ...Array.from({ length: logs }, (_, at) =>
      recordOf(acme, 1 + at * 4, { model: at % 5 === 0 ? 'o3' : 'gpt-4o', metadata: { env: at % 2 === 0 ? 'prod' : 'test' } }),
    ),
    recordOf(acme, 3, { workspaceId: acme.sideId, model: 'side' }),
    recordOf(rival, 3, { model: 'rival' }),
  ])
})
test.after.always(() => exporting.close())

const estimate = async (wanted: object, key = exporting.acme.workspaceKey) => {
  const answer = await call(key, 'POST', '/logs/exports/estimate', { filters: {}, ...wanted })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as { rows: number | null; bytes: number | null; is_exact: boolean; sampled_rows: number; denied_fields: unknown[] }
}

const wanted = [
  { format: 'jsonl', requested_data: ['id', 'created_at', 'ai_model', 'cost'] },
  { format: 'jsonl', requested_data: ['id', 'request', 'response', 'metadata'] },
  { format: 'csv', requested_data: ['id', 'metadata', 'request_url'] },
  { format: 'parquet', requested_data: ['id', 'created_at', 'metadata'] },
] as const

for (const one of wanted)
  test.serial(
    `the rows of ${one.format} with ${one.requested_data.join(', ')} are counted, and its bytes are told within a tenth`,
    async (t) => {
      const told = await estimate(one)
      t.like(told, { rows: logs, is_exact: true, denied_fields: [] })
      t.true(told.sampled_rows > 50 && told.sampled_rows < logs, String(told.sampled_rows))
      const file = await exporting.whole(one)
      // Columns of few samples compress worse than those of many.
      const tolerance = one.format === 'parquet' ? 0.35 : 0.1
      t.true(Math.abs(Number(told.bytes) - file.length) < file.length * tolerance, `${String(told.bytes)} of ${file.length}`)
    },
  )

test.serial('an estimate has the filters, the workspace and the tenant of the export', async (t) => {
  const { acme, rival } = exporting
  const rows = async (asked: object, key?: string) => (await estimate({ requested_data: ['id'], ...asked }, key)).rows
  t.is(await rows({ filters: { ai_model: 'o3' } }), logs / 5)
  t.is(await rows({ filters: { metadata: { env: 'prod' }, ai_model: 'gpt-4o' } }), (logs * 2) / 5)
  t.is(await rows({}, acme.sideKey), 1)
  t.is(await rows({}, acme.adminKey), logs + 1)
  t.is(await rows({ workspace_id: 'side' }, acme.adminKey), 1)
  t.is(await rows({}, rival.adminKey), 1)
  t.like(await estimate({ requested_data: ['id'], filters: { ai_model: 'none' }, format: 'csv' }), { rows: 0, bytes: 'id\r\n'.length })
  const refused = await call(acme.workspaceKey, 'POST', '/logs/exports/estimate', { filters: { colour: 'red' }, requested_data: ['id'] })
  t.like(errorOf(refused), { code: 'AB01', param: 'filters.colour' })
  t.is((await call(acme.workspaceKey, 'GET', '/logs/exports?search=estimate')).body['total'], 0)
})

test.serial('where counting takes too long, rows come from roll-ups and some of the logs', async (t) => {
  const { sql } = exporting.control
  // Only the count waits for longer than it may.
  await sql.query(`CREATE FUNCTION slow_count() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    IF current_query() LIKE 'SELECT count(*)::int AS total FROM (SELECT FROM logs l%' THEN PERFORM pg_sleep(5); END IF; RETURN true; END $$`)
  await sql.query('GRANT EXECUTE ON FUNCTION slow_count() TO PUBLIC')
  await sql.query('CREATE POLICY slow ON logs AS RESTRICTIVE FOR SELECT USING (slow_count())')
  try {
    const all = await estimate({ requested_data: ['id'] })
    t.like(all, { rows: logs, is_exact: false })
    const some = await estimate({ requested_data: ['id'], filters: { metadata: { env: 'prod' } } })
    t.false(some.is_exact)
    t.true(Math.abs(Number(some.rows) - logs / 2) < logs / 20, String(some.rows))
  } finally {
    await sql.query('DROP POLICY slow ON logs; DROP FUNCTION slow_count()')
  }
})

test.serial('denied fields are named with what denies them, and the estimate is that of the others', async (t) => {
  const { acme } = exporting
  const deny = async (fields: readonly string[]) =>
    t.is((await call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { export_settings: { deniedFields: fields } } })).status, 200)
  const id = await exporting.draft({ requested_data: ['id', 'cost_pico_usd'] })
  await deny(['cost', 'request'])
  const told = await estimate({ requested_data: ['id', 'total_cost_pico_usd', 'request'] })
  t.deepEqual(told.denied_fields, [
    { field: 'total_cost_pico_usd', denied_with: 'cost' },
    { field: 'request', denied_with: 'request' },
  ])
  t.is(told.bytes, (await estimate({ requested_data: ['id'] })).bytes)
  t.like(await estimate({ requested_data: ['request'] }), { rows: null, bytes: null })
  t.like(await estimate({ kind: 'focus' }), { rows: null, bytes: null, denied_fields: [{ field: 'cost', denied_with: 'cost' }] })
  t.deepEqual((await call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body['denied_fields'], ['cost_pico_usd'])
  const listed = dataOf(await call(acme.workspaceKey, 'GET', '/logs/exports')).find((one) => one['id'] === id)
  t.deepEqual(listed?.['denied_fields'], ['cost_pico_usd'])
  await deny([])
})

test.serial('a file is told by its digest, and how far it is by the rows that were expected', async (t) => {
  const { acme } = exporting
  const read = async (id: string) => (await call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body
  for (const format of ['jsonl', 'parquet']) {
    const id = await exporting.draft({ requested_data: ['id', 'request'], format })
    t.like(await read(id), { expected_rows: null, progress: null, sha256: null })
    await call(acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
    t.like(await read(id), { expected_rows: logs, progress: 0, sha256: null })
    await makeParts(exporting.control.started.deps)
    const file = await exporting.file(id)
    t.like(await read(id), { expected_rows: logs, progress: 1, rows: logs, sha256: createHash('sha256').update(file).digest('hex') })
  }
  const half = await exporting.draft({ requested_data: ['id'] })
  await call(acme.workspaceKey, 'POST', `/logs/exports/${half}/start`)
  await exporting.control.sql.query('UPDATE log_exports SET row_count = expected_rows / 2 WHERE id = $1', [half])
  t.is((await read(half))['progress'], 0.5)
  await exporting.control.sql.query('UPDATE log_exports SET row_count = expected_rows * 2 WHERE id = $1', [half])
  t.is((await read(half))['progress'], 0.99)
  await call(acme.workspaceKey, 'POST', `/logs/exports/${half}/cancel`)
  t.like(await read(half), { progress: null, sha256: null })
})

test.serial('an export of which an earlier release made a part has no digest', async (t) => {
  const { acme, control } = exporting
  const id = await exporting.draft({ requested_data: ['id'] })
  await call(acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
  await control.sql.query(
    `UPDATE log_exports SET parts = 1, progress = '{"at": 0, "id": "ffffffff-ffff-ffff-ffff-ffffffffffff", "window": 2592000000}' WHERE id = $1`,
    [id],
  )
  await makeParts(control.started.deps)
  t.like((await call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body, { status: 'success', sha256: null })
})

test.serial('metrics tell how many exports are made, and how many could not go on', async (t) => {
  const { acme, control } = exporting
  const { deps } = control.started
  const told = async (running: number, retrying: number) => {
    await makeExports.run(deps)
    const lines = [`gateway_exports_running ${running}`, `gateway_exports_retrying ${retrying}`]
    const isTold = async () => {
      const text = await (await fetch(`${control.origin}/metrics`)).text()
      return lines.every((line) => text.includes(`${line}\n`))
    }
    // Metrics are rendered once a second.
    await t.notThrowsAsync(eventually(isTold, 5000, lines.join(', ')))
  }
  await control.sql.query(`UPDATE log_exports SET status = 'stopped' WHERE status = 'in_progress'`)
  await told(0, 0)
  const id = await exporting.draft({ requested_data: ['id'] })
  await call(acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
  await control.sql.query(`UPDATE log_exports SET attempts = 1, lease_until = now() + interval '1 hour' WHERE id = $1`, [id])
  await told(1, 1)
  await control.sql.query('UPDATE log_exports SET lease_until = NULL WHERE id = $1', [id])
  await told(0, 0)
})
