import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Client } from 'pg'
import { createLocalStore } from '../../../src/app/log-store/local-store.ts'
import { createMover } from '../../../src/app/log-store/mover.ts'
import { keepWorkspaces } from '../../../src/features/logs/logs.jobs.ts'
import { forgetSpans } from '../../../src/features/traces/traces.jobs.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
let folder: string
let store: ReturnType<typeof createLocalStore>

const dayMs = 86_400_000
/** Minutes before now at noon of a day so many days ago: far from the midnights that days end with. */
const noon = (days: number): number => (Date.now() - (Math.floor(Date.now() / dayMs) * dayMs - days * dayMs + dayMs / 2)) / 60_000

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-retention-'))
  store = createLocalStore(folder)
  exporting = await startExporting({ LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder, LOG_RETENTION_DAYS: '30' })
})
test.after.always(async () => {
  await exporting?.close()
  await rm(folder, { recursive: true, force: true })
})

const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)
const sql = <Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
  exporting.control.sql.query<Row>(text, [...values]).then(({ rows }) => rows)
const set = (days: number | null, key = exporting.acme.adminKey) => call(key, 'PUT', '/admin/workspaces/main', { log_retention_days: days })
const expire = () => keepWorkspaces.run(exporting.control.started.deps)

const log = (minutes: number, more: Parameters<typeof recordOf>[2] = {}) =>
  recordOf(exporting.acme, minutes, { id: uuidv7(Date.now() - minutes * 60_000), ...more })

/** How many days ago the logs of a workspace were. */
const daysOf = async (workspaceId: string) =>
  (
    await sql<{ days: number }>(
      `SELECT (now() AT TIME ZONE 'UTC')::date - (created_at AT TIME ZONE 'UTC')::date AS days FROM logs WHERE workspace_id = $1 ORDER BY created_at DESC`,
      [workspaceId],
    )
  ).map(({ days }) => days)

test.serial(
  'a retention is whole days, no more than the installation keeps, and set by whoever decides for the organisation',
  async (t) => {
    const { acme, control } = exporting
    for (const days of [0, -1, 1.5, 31, '7', 3651]) {
      const answer = await call(acme.adminKey, 'PUT', '/admin/workspaces/main', { log_retention_days: days })
      t.is(answer.status, 400, JSON.stringify(days))
      t.like(errorOf(answer), { code: 'AB01', param: 'log_retention_days' })
    }
    const manager = await control.createUser(acme, { email: 'm@acme.example', workspaces: { [acme.workspaceId]: 'manager' } })
    const key = await control.createKey(acme, {
      workspaceId: acme.workspaceId,
      userId: manager,
      scopes: ['workspaces.update', 'workspaces.read'],
    })
    t.is((await set(7, key)).status, 403)
    t.is((await call(key, 'PUT', '/admin/workspaces/main', { description: 'mine', log_retention_days: null })).status, 200)
    t.is((await set(30)).status, 200)
    t.is((await call(acme.adminKey, 'GET', '/admin/workspaces/main')).body['log_retention_days'], 30)
    const made = await call(acme.adminKey, 'POST', '/admin/workspaces', { name: 'Short', log_retention_days: 3 })
    t.is(made.body['log_retention_days'], 3)
    t.is((await set(null)).status, 200)
    t.is((await call(acme.adminKey, 'GET', '/admin/workspaces/main')).body['log_retention_days'], null)
  },
)

test.serial(
  'logs of a workspace go with its own retention, bodies and objects with them; those of others and all figures stay',
  async (t) => {
    const { acme, rival } = exporting
    const ages = [0, 3, 6, 7, 8, 20, 29]
    const records = ages.map((days) => log(days === 0 ? 1 : noon(days)))
    await exporting.ship([
      ...records,
      ...ages.map((days) => log(days === 0 ? 1 : noon(days), { workspaceId: acme.sideId })),
      recordOf(rival, noon(20)),
    ])
    const [stored = '', kept = ''] = [records[5]?.id, records[1]?.id]
    for (const id of [stored, kept]) {
      await store.put(`30/${id}.json`, Buffer.from('{}'))
      await sql(`UPDATE log_bodies SET object_key = $2 WHERE id = $1`, [id, `30/${id}.json`])
    }
    const figures = async () =>
      (await call(acme.adminKey, 'GET', '/analytics/overview?measures=requests,total_tokens&interval=day')).body['summary']
    const before = await figures()
    t.like(before, { requests: ages.length * 2 })
    await expire()
    t.deepEqual(await daysOf(acme.workspaceId), ages)

    t.is((await set(7)).status, 200)
    await expire()
    t.deepEqual(await daysOf(acme.workspaceId), [0, 3, 6, 7])
    t.deepEqual(await daysOf(acme.sideId), ages)
    t.deepEqual(await daysOf(rival.workspaceId), [20])
    const bodies = await sql<{ n: number }>('SELECT count(*)::int AS n FROM log_bodies')
    t.is(bodies[0]?.n, 4 + ages.length + 1)
    t.is(await store.get(`30/${stored}.json`), null)
    t.not(await store.get(`30/${kept}.json`), null)
    t.deepEqual(await figures(), before)
    t.is((await call(acme.adminKey, 'GET', `/logs/${stored}`)).status, 404)
    t.is((await call(acme.adminKey, 'GET', `/logs/${records[2]?.id ?? ''}`)).status, 200)

    const trail = dataOf(await call(acme.adminKey, 'GET', '/audit-logs?action=expire'))
    t.is(trail.length, 1)
    t.like(trail[0], { action: 'expire', resource_type: 'log', workspace_id: acme.workspaceId })
    t.regex(JSON.stringify(trail[0]), /"deleted_before":"20\d\d-\d\d-\d\dT00:00:00.000Z"/)
    await expire()
    t.is(dataOf(await call(acme.adminKey, 'GET', '/audit-logs?action=expire')).length, 1)
  },
)

test.serial('a range that begins within an hour whose logs are gone has the whole hour', async (t) => {
  const at = new Date(Date.now() - noon(20) * 60_000 + 30 * 60_000).toISOString()
  const requests = async (key: string) =>
    (
      await call(
        key,
        'GET',
        `/analytics/overview?measures=requests&interval=hour&time_of_generation_min=${at}&time_of_generation_max=${new Date(Date.parse(at) + 40 * 60_000).toISOString()}`,
      )
    ).body['summary']
  t.like(await requests(exporting.acme.workspaceKey), { requests: 1 })
  t.like(await requests(exporting.acme.sideKey), { requests: 0 })
})

test.serial('nobody waits for the deletion, and it for nobody: open reads and writes of the same days', async (t) => {
  const { acme, control } = exporting
  await exporting.ship([log(noon(15)), log(noon(15) + 1)])
  const { host, port, user, database, password } = control.sql.options
  const beside = new Client({ host, port, user, database, ...(typeof password === 'string' && { password }) })
  await beside.connect()
  try {
    await beside.query('BEGIN')
    await beside.query('SELECT count(*) FROM logs')
    await beside.query(
      `INSERT INTO logs SELECT (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'workspace_id', $1::uuid))).* FROM logs l WHERE workspace_id = $2 ORDER BY created_at LIMIT 1`,
      [acme.sideId, acme.workspaceId],
    )
    await expire()
    t.deepEqual(await daysOf(acme.workspaceId), [0, 3, 6, 7])
  } finally {
    await beside.query('ROLLBACK')
    await beside.end()
  }
})

test.serial('a log on its way to the log store waits until it is there: no object is left behind', async (t) => {
  const { acme } = exporting
  const [busy, due] = [log(noon(12)), log(noon(13))]
  await exporting.ship([busy, due])
  await sql('DELETE FROM log_uploads')
  await sql(
    `INSERT INTO log_uploads (id, organisation_id, workspace_id, created_at, due_at)
     SELECT id, organisation_id, workspace_id, created_at, CASE WHEN id = $1 THEN now() + interval '1 minute' ELSE now() END FROM logs WHERE id = ANY ($2)`,
    [busy.id, [busy.id, due.id]],
  )
  await expire()
  t.deepEqual(await daysOf(acme.workspaceId), [0, 3, 6, 7, 12])
  t.deepEqual(await sql('SELECT id FROM log_uploads'), [{ id: busy.id }])
  await sql('UPDATE log_uploads SET due_at = now()')
  await expire()
  t.deepEqual(await daysOf(acme.workspaceId), [0, 3, 6, 7])
  t.deepEqual(await sql('SELECT id FROM log_uploads'), [])
})

test.serial('many logs go in batches, and none that roll-ups have not counted', async (t) => {
  const { acme } = exporting
  await exporting.ship(Array.from({ length: 1200 }, (_, at) => log(noon(10) + at / 100)))
  await sql(`UPDATE usage_state SET complete_from = date_trunc('day', now(), 'UTC') - interval '5 days'`)
  await expire()
  t.is((await daysOf(acme.workspaceId)).length, 4 + 1200)
  await sql(`UPDATE usage_state SET complete_from = '-infinity'`)
  await expire()
  t.deepEqual(await daysOf(acme.workspaceId), [0, 3, 6, 7])
})

test.serial('objects of the log store stand below the days of their workspace, so that rules of a bucket can go by them', async (t) => {
  const { acme, control } = exporting
  await sql('DELETE FROM log_uploads')
  const [short, long] = [log(1), log(2, { workspaceId: acme.sideId })]
  await exporting.ship([short, long])
  await sql(
    `INSERT INTO log_uploads (id, organisation_id, workspace_id, created_at) SELECT id, organisation_id, workspace_id, created_at FROM logs WHERE id = ANY ($1) ON CONFLICT DO NOTHING`,
    [[short.id, long.id]],
  )
  const client = await control.sql.connect()
  try {
    const mover = createMover({
      client: async () => client,
      store,
      retentionDays: 30,
      pathFormat: 'v2',
      timeoutMs: 1000,
      longestBackoffMs: 1000,
      failureThreshold: 5,
    })
    t.is((await mover.pass()).moved, 2)
  } finally {
    client.release()
  }
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.json'))
  t.true(files.some((file) => file.startsWith(`7/${acme.organisationId}/${acme.workspaceId}/`) && file.includes(short.id)))
  t.true(files.some((file) => file.startsWith(`30/${acme.organisationId}/${acme.sideId}/`) && file.includes(long.id)))
})

test.serial('spans that clients sent go with the logs of their workspace', async (t) => {
  const { acme } = exporting
  for (const [workspace, trace] of [
    [acme.workspaceId, 'short'],
    [acme.sideId, 'long'],
  ] as const)
    await sql(
      `INSERT INTO trace_spans (organisation_id, workspace_id, trace_id, span_id, api_key_id, created_at, duration_ms, name, kind, status, is_sealed, details)
       VALUES ($1, $2, $3, 'a', $2, now() - interval '8 days', 1, 'a', 'internal', 'ok', false, '{}'), ($1, $2, $3, 'b', $2, now(), 1, 'b', 'internal', 'ok', false, '{}')`,
      [acme.organisationId, workspace, trace],
    )
  await forgetSpans.run(exporting.control.started.deps)
  const left = await sql<{ trace_id: string; span_id: string }>('SELECT trace_id, span_id FROM trace_spans ORDER BY 1, 2')
  t.deepEqual(
    left.map(({ trace_id: trace, span_id: span }) => `${trace} ${span}`),
    ['long a', 'long b', 'short b'],
  )
})
