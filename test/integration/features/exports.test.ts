import test from 'ava'
import { parquetReadObjects } from 'hyparquet'
import type { valueFilters } from '../../../src/features/logs/index.ts'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { exportableFields } from '../../../src/lib/access/export-settings.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)
const logs = 25

test.before(async () => {
  exporting = await startExporting({ LOG_SEALING: 'on' })
  const { acme, rival } = exporting
  await exporting.ship([
    ...Array.from({ length: logs }, (_, at) =>
      recordOf(acme, at + 1, { model: at % 5 === 0 ? 'o3' : 'gpt-4o', metadata: { env: at % 2 === 0 ? 'prod' : '=1+1', note: 'a,"b"\n' } }),
    ),
    recordOf(acme, 3, { workspaceId: acme.sideId, model: 'side' }),
    recordOf(rival, 3, { model: 'rival' }),
  ])
})
test.after.always(() => exporting.close())

const lines = (file: Buffer) =>
  file
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test.serial('an export goes from a draft to a file that has every log once, in the order of time', async (t) => {
  const { acme } = exporting
  const wanted = { filters: { ai_model: 'gpt-4o', is_success: true, metadata: { note: 'a,"b"\n' } }, requested_data: ['id', 'created_at'] }
  const drafted = await call(acme.workspaceKey, 'POST', '/logs/exports', wanted)
  t.is(drafted.status, 200, drafted.text)
  t.like(drafted.body, { total: 20, object: 'export' })
  const path = `/logs/exports/${String(drafted.body['id'])}`
  const early = await call(acme.workspaceKey, 'GET', `${path}/download`)
  t.like(
    [early.status, errorOf(early)['code']],
    ['409', 'AB07'].map((one, at) => (at === 0 ? Number(one) : one)),
  )
  const changed = await call(acme.workspaceKey, 'PUT', path, {
    filters: {},
    requested_data: ['id', 'created_at', 'ai_model', 'request', 'response', 'metadata'],
    description: 'For the books',
  })
  t.like(changed.body, { total: logs })
  t.is((await call(acme.workspaceKey, 'POST', `${path}/start`)).status, 200)
  t.is((await call(acme.workspaceKey, 'PUT', path, { filters: {} })).status, 409)
  t.is((await call(acme.workspaceKey, 'POST', `${path}/start`)).status, 409)
  await makeParts(exporting.control.started.deps)
  const { body } = await call(acme.workspaceKey, 'GET', path)
  t.like(body, { status: 'success', rows: logs, description: 'For the books', workspace_id: acme.workspaceId, error: null })
  const response = await fetch(await exporting.link(String(drafted.body['id'])))
  const file = Buffer.from(await response.arrayBuffer())
  t.is(response.headers.get('content-disposition'), `attachment; filename="logs-${String(drafted.body['id'])}.jsonl"`)
  t.is(file.length, Number(body['bytes']))
  const rows = lines(file)
  t.is(new Set(rows.map(({ id }) => id)).size, logs)
  t.true(rows.every((row, at) => at === 0 || String(rows[at - 1]?.['created_at']) <= String(row['created_at'])))
  const { id, request, response: answer, metadata } = rows[0] ?? {}
  t.like(request, { method: 'POST', body: { ask: id }, body_encoding: 'json' })
  t.like(answer, { body: { tell: id } })
  t.like(metadata, { note: 'a,"b"\n' })
})

test.serial('every field comes out the same in each format', async (t) => {
  const wanted = { requested_data: exportableFields, filters: { ai_model: 'o3' } }
  const rows = lines(await exporting.whole({ ...wanted, format: 'jsonl' }))
  t.is(rows.length, 5)
  const parquet = await exporting.whole({ ...wanted, format: 'parquet' })
  const read = await parquetReadObjects({ file: new Uint8Array(parquet).buffer })
  t.deepEqual(
    read.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          ['request', 'response', 'metadata'].includes(name)
            ? JSON.parse(String(value))
            : typeof value === 'bigint'
              ? Number(value)
              : value instanceof Date
                ? value.toISOString()
                : (value ?? null),
        ]),
      ),
    ),
    rows,
  )
  const csv = (
    await exporting.whole({ requested_data: ['created_at', 'metadata', 'total_units', 'config'], format: 'csv', filters: {} })
  ).toString()
  t.is(csv.split('\r\n')[0], 'created_at,metadata,total_units,config')
  t.is(csv.split('\r\n').length, logs + 2)
  t.regex(csv, /,"\{""env"":""prod"",""note"":""a,\\""b\\""\\n""\}",/)
})

test.serial('what a spreadsheet would run is text in CSV', async (t) => {
  await exporting.ship([recordOf(exporting.acme, 200, { model: '=HYPERLINK("http://evil")', traceId: '-1+1' })])
  const csv = (await exporting.whole({ requested_data: ['ai_model', 'trace_id'], format: 'csv', filters: { trace_id: '-1+1' } })).toString()
  t.is(csv, `ai_model,trace_id\r\n"'=HYPERLINK(""http://evil"")",'-1+1\r\n`)
})

test.serial('nothing matches: the file has no row, and is one all the same', async (t) => {
  const wanted = { requested_data: ['id', 'cost'], filters: { ai_model: 'none' } }
  t.is((await exporting.whole(wanted)).length, 0)
  t.is((await exporting.whole({ ...wanted, format: 'csv' })).toString(), 'id,cost\r\n')
  t.deepEqual(await parquetReadObjects({ file: new Uint8Array(await exporting.whole({ ...wanted, format: 'parquet' })).buffer }), [])
})

test.serial('an export has the logs of its workspace; an organisation key exports all of its own', async (t) => {
  const { acme } = exporting
  const models = async (wanted: object, key: string) =>
    new Set(lines(await exporting.whole({ requested_data: ['ai_model'], ...wanted }, key)).map((row) => row['ai_model']))
  t.deepEqual(await models({}, acme.sideKey), new Set(['side']))
  t.deepEqual(await models({ workspace_id: 'side' }, acme.adminKey), new Set(['side']))
  t.deepEqual(await models({ filters: { workspace_slug: 'side' } }, acme.adminKey), new Set(['side']))
  const all = await models({}, acme.adminKey)
  t.true(all.has('side') && all.has('o3') && !all.has('rival'))
})

test.serial('an export is not there for another tenant, nor for another workspace', async (t) => {
  const { acme, rival } = exporting
  const id = await exporting.draft({})
  const ways = [
    ['GET', ''],
    ['PUT', '', { filters: {} }],
    ['POST', '/start'],
    ['POST', '/cancel'],
    ['GET', '/download'],
  ] as const
  for (const key of [rival.adminKey, rival.workspaceKey, acme.sideKey]) {
    for (const [method, end, body] of ways) {
      const answer = await call(key, method, `/logs/exports/${id}${end}`, body)
      t.like(answer, { status: 404, body: { error: { code: 'AB08', param: 'exportId' } } }, `${method} ${end}`)
    }
    const listed = dataOf(await call(key, 'GET', '/logs/exports'))
    t.false(listed.some((one) => one['id'] === id))
  }
  t.is((await call(acme.adminKey, 'GET', `/logs/exports/${id}`)).status, 200)
  t.is((await call(acme.workspaceKey, 'GET', '/logs/exports/not-an-id')).status, 404)
})

test.serial('a link works without a key, until its time is over, and only as it was signed', async (t) => {
  const id = await exporting.draft({ requested_data: ['id'] })
  await call(exporting.acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
  await makeParts(exporting.control.started.deps)
  const link = new URL(await exporting.link(id))
  t.is((await fetch(link)).status, 200)
  const beside = new URL(link.pathname + link.search, await exporting.control.openBeside())
  t.deepEqual(await (await fetch(beside)).text(), await (await fetch(link)).text())
  const status = async (change: (url: URL) => void) => {
    const url = new URL(link)
    change(url)
    return (await fetch(url)).status
  }
  t.is(await status((url) => url.searchParams.set('signature', 'AAAA')), 401)
  t.is(await status((url) => url.searchParams.delete('signature')), 401)
  t.is(await status((url) => url.searchParams.set('expires', String(Date.now() + 10 ** 9))), 401)
  const other = await exporting.draft({})
  t.is(await status((url) => void (url.pathname = url.pathname.replace(id, other))), 401)
  await exporting.control.sql.query(`UPDATE log_exports SET expires_at = now() - interval '1 s' WHERE id = $1`, [id])
  t.is(await status(() => {}), 409)
})

const filterValues = {
  status_code: '200,429',
  status_code_not: '500',
  ai_org: 'openai',
  ai_org_not: 'openai',
  ai_model: 'o3',
  ai_model_not: 'o3,gpt-4o',
  ai_org_model: 'openai__o3',
  configs: 'a',
  configs_not: 'a',
  virtual_keys: 'a',
  virtual_keys_not: 'a',
  api_key_ids: '01980000-0000-7000-8000-000000000001',
  api_key_ids_not: '01980000-0000-7000-8000-000000000001',
  user_id: '01980000-0000-7000-8000-000000000001',
  user_id_not: '01980000-0000-7000-8000-000000000001',
  prompt_slug: 'a',
  prompt_slug_not: 'a',
  operation: 'embeddings',
  operation_not: 'embeddings',
  outcome: 'error,complete',
  outcome_not: 'error',
  error_code: 'AB01',
  error_code_not: 'AB01',
  cache_status: 'HIT',
  cache_status_not: 'HIT',
  guardrail: 'denied',
  stream: true,
  trace_id: 'a',
  span_id: 'a',
  weighted_feedback_min: -1,
  weighted_feedback_max: 1,
  total_units_min: 1,
  total_units_max: 2,
  prompt_token_min: 1,
  prompt_token_max: 2,
  completion_token_min: 1,
  completion_token_max: 2,
  response_time_min: 1,
  response_time_max: 2,
  cost_min: 0.5,
  cost_max: 1,
  metadata: { env: ['test', 'prod'], team: 'a' },
  metadata_keys: 'env,team',
  is_success: false,
} satisfies Readonly<Record<keyof typeof valueFilters, unknown>>

test.serial('whatever logs are filtered by is saved and exported too', async (t) => {
  const { workspaceKey } = exporting.acme
  for (const [name, value] of Object.entries(filterValues)) {
    const filters = { [name]: value }
    const saved = await call(workspaceKey, 'POST', '/saved-filters', { name, filters })
    t.is(saved.status, 200, `${name}: ${saved.text}`)
    t.deepEqual((await call(workspaceKey, 'GET', `/saved-filters/${String(saved.body['id'])}`)).body['filters'], filters)
    const { status, text } = await call(workspaceKey, 'POST', '/logs/exports', { filters, requested_data: ['id'] })
    t.is(status, 200, `${name}: ${text}`)
  }
})

test.serial('bad input is refused by its name', async (t) => {
  const { workspaceKey } = exporting.acme
  const refused = async (body: object) =>
    errorOf(await call(workspaceKey, 'POST', '/logs/exports', { filters: {}, requested_data: ['id'], ...body }))
  t.like(await refused({ requested_data: ['colour'] }), { code: 'AB01', param: 'requested_data[0]' })
  t.like(await refused({ requested_data: [] }), { code: 'AB01', param: 'requested_data' })
  t.like(await refused({ requested_data: ['id', 'id'] }), { code: 'AB01', param: 'requested_data' })
  t.like(await refused({ filters: { colour: 'red' } }), { code: 'AB01', param: 'filters.colour' })
  t.like(await refused({ filters: { ai_org_model: 'openai' } }), { code: 'AB01', param: 'filters.ai_org_model' })
  t.like(await refused({ format: 'xml' }), { code: 'AB01', param: 'format' })
  t.like(await refused({ workspace_id: 'side' }), { code: 'AB03' })
})

test.serial('a stopped export leaves nothing, and can begin anew', async (t) => {
  const { workspaceKey } = exporting.acme
  const id = await exporting.draft({ filters: { ai_model: 'o3' } })
  t.is((await call(workspaceKey, 'POST', `/logs/exports/${id}/cancel`)).status, 409)
  await call(workspaceKey, 'POST', `/logs/exports/${id}/start`)
  t.is((await call(workspaceKey, 'POST', `/logs/exports/${id}/cancel`)).status, 200)
  await makeParts(exporting.control.started.deps)
  t.like((await call(workspaceKey, 'GET', `/logs/exports/${id}`)).body, { status: 'stopped', rows: 0, bytes: 0 })
  await call(workspaceKey, 'POST', `/logs/exports/${id}/start`)
  await makeParts(exporting.control.started.deps)
  t.is(lines(await exporting.file(id)).length, 5)
})

test.serial('denied fields are nowhere: neither asked for, nor started, nor made, nor given out', async (t) => {
  const { acme } = exporting
  const deny = (fields: readonly string[]) =>
    call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { export_settings: { deniedFields: fields } } })
  const make = (fields: readonly string[]) => exporting.draft({ requested_data: fields, filters: { ai_model: 'o3' } })
  const start = (id: string) => call(acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
  const [draft, running, done] = [await make(['metadata']), await make(['id', 'metadata']), await make(['id', 'metadata'])]
  await start(done)
  await makeParts(exporting.control.started.deps)
  const link = await exporting.link(done)
  await start(running)
  t.is((await deny(['metadata', 'cost', 'request'])).status, 200)
  t.like((await call(acme.adminKey, 'GET', '/admin/organisation')).body, {
    settings: { export_settings: { deniedFields: ['metadata', 'cost', 'request'] } },
  })
  await makeParts(exporting.control.started.deps)
  t.like((await call(acme.workspaceKey, 'GET', `/logs/exports/${running}`)).body, { status: 'failed', rows: 0 })
  const refused = [
    await start(draft),
    await call(acme.workspaceKey, 'PUT', `/logs/exports/${draft}`, { filters: {} }),
    await call(acme.workspaceKey, 'GET', `/logs/exports/${done}/download`),
    await call(acme.workspaceKey, 'POST', '/logs/exports', { filters: {}, requested_data: ['id', 'total_cost_pico_usd'] }),
  ]
  for (const answer of refused) t.like(answer, { status: 403, body: { error: { code: 'AB03', param: 'requested_data' } } })
  t.is((await fetch(link)).status, 403)
  const kept = await exporting.whole({
    requested_data: exportableFields.filter((name) => !/cost|metadata|request$/.test(name)),
    filters: {},
  })
  for (const gone of ['"metadata"', '"env"', 'cost', '"ask"', 'prod']) t.false(kept.includes(gone), gone)
  t.is((await deny([])).status, 200)
  t.is((await deny(['colour'])).status, 400)
  t.is((await fetch(link)).status, 200)
})

test.serial('parts are sealed where logs are', async (t) => {
  const { rows } = await exporting.control.sql.query<{ content: Buffer; is_sealed: boolean }>(
    'SELECT content, is_sealed FROM log_export_parts',
  )
  t.true(rows.length > 3)
  for (const { content, is_sealed } of rows) t.deepEqual([is_sealed, content[0]], [true, 1])
})
