import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createLocalStore } from '../../../src/app/log-store/local-store.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'
import type { Tenant } from './setup.ts'

let exporting: Exporting
let folder: string
let ada: string
let store: ReturnType<typeof createLocalStore>

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-erasures-'))
  store = createLocalStore(folder)
  exporting = await startExporting({ LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder })
  ada = await exporting.control.createUser(exporting.acme, { email: 'ada@acme.example', workspaces: {} })
})
test.after.always(async () => {
  await exporting?.close()
  await rm(folder, { recursive: true, force: true })
})

const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)
const sql = <Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
  exporting.control.sql.query<Row>(text, [...values]).then(({ rows }) => rows)
const erase = (body: object, key = exporting.acme.adminKey) => call(key, 'POST', '/logs/erasures', body)

const canary = 'canary-of-ada'
const attempt = {
  option: 'config.targets[0]',
  provider: 'openai',
  providerSlug: 'a',
  model: 'm',
  status: 429,
  failure: 'rate_limit',
  error: canary,
  startMs: 1,
  durationMs: 2.5,
  responseBytes: 9,
} as const
const cost = { state: 'priced', amount: '70000000000', catalogue: 'c', saved: null, lines: [], unpriced: [], charges: [] } as const

/** A log that names a person wherever it can. */
const personal = (tenant: Tenant, minutes: number, more: Partial<ExchangeRecord> = {}) =>
  recordOf(tenant, minutes, {
    id: uuidv7(Date.now() - minutes * 60_000),
    clientAddress: canary,
    path: `/chat/completions?user=${canary}`,
    metadata: { _user: canary },
    traceId: canary,
    spanId: canary,
    parentSpanId: canary,
    spanName: canary,
    upstreamUrl: `https://api.openai.com/?user=${canary}`,
    requestHeaders: { 'x-user': canary },
    responseHeaders: { 'x-user': canary },
    attempts: [attempt, attempt],
    translation: { dropped: [], providerError: canary },
    hooks: { before_request_hooks: [], after_request_hooks: [{ name: canary } as never] },
    cost,
    ...more,
  })

/** Everything in the database, but the audit trail, the people themselves and the roll-ups that name no person. */
async function sightings(text: string): Promise<readonly string[]> {
  const tables = await sql<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
        AND relname !~ '^(?:audit|users|workspace_members|usage_(?!user_sums)|api_keys)'`,
  )
  const seen: string[] = []
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%' || encode(convert_to($1, 'UTF8'), 'hex') || '%'`,
      [text],
    )
    if ((row?.count ?? 0) > 0) seen.push(name)
  }
  return seen
}

const rowsOf = (ids: readonly string[]) =>
  sql('SELECT l.*, b.* FROM logs l JOIN log_bodies b ON b.id = l.id AND b.created_at = l.created_at WHERE l.id = ANY ($1) ORDER BY l.id', [
    ids,
  ])

test.serial('what a person asked is nowhere any longer; sums stay, and so do the logs of others', async (t) => {
  const { acme, rival } = exporting
  const whoseKey = { userId: ada, apiKeyId: '01980000-0000-7000-8000-0000000000aa' }
  const theirs = [
    personal(acme, 5, whoseKey),
    personal(acme, 90, { ...whoseKey, workspaceId: acme.sideId }),
    personal(acme, 2000, whoseKey),
  ]
  const others = [recordOf(acme, 6, { cost, traceId: 'other' }), personal(rival, 7, whoseKey)]
  await exporting.ship([...theirs, ...others])
  await call(acme.workspaceKey, 'POST', '/feedback', { trace_id: canary, value: 5, metadata: { note: canary } })
  await call(acme.workspaceKey, 'POST', '/feedback', { trace_id: 'other', value: 5 })
  const others_ = others.map(({ id }) => id)
  const [before, figures] = [await rowsOf(others_), (await call(acme.adminKey, 'GET', '/analytics/overview?measures=requests,cost')).body]
  const stored = theirs[0]?.id ?? ''
  await store.put('90/of-ada.json', Buffer.from(canary))
  await sql(`UPDATE log_bodies SET object_key = '90/of-ada.json' WHERE id = $1`, [stored])

  await sql(`UPDATE log_bodies SET request_body = $1, response_body = $1, sealed = $1 WHERE id = ANY ($2)`, [
    Buffer.from(canary),
    theirs.map(({ id }) => id),
  ])
  await sql(
    `INSERT INTO trace_spans (organisation_id, workspace_id, trace_id, span_id, api_key_id, created_at, duration_ms, name, kind, status, is_sealed, details)
     VALUES ($1, $2, $3, 'a', $2, now(), 1, $3, 'internal', 'ok', false, $4)`,
    [acme.organisationId, acme.workspaceId, canary, Buffer.from(canary)],
  )
  t.deepEqual([...(await sightings(canary))].toSorted(), ['feedbacks', 'log_bodies', 'logs', 'trace_spans', 'usage_user_sums'])

  const { status, body, text } = await erase({ user_id: ada })
  t.is(status, 200, text)
  t.like(body, { object: 'log.erasure', erased: 3, waiting: 0, has_more: false, objects: [] })
  const left = await rowsOf(theirs.map(({ id }) => id))
  t.is(left.length, 3)
  t.notRegex(JSON.stringify(left), new RegExp(`${canary}|${ada}|${Buffer.from(canary).toString('hex')}`))
  t.true(left.every(({ user_id: user, api_key_id: key }) => user === null && key === '00000000-0000-0000-0000-000000000000'))
  t.is(await store.get('90/of-ada.json'), null)
  t.deepEqual(await rowsOf(others_), before)
  t.deepEqual(
    (await sql<{ trace_id: string }>('SELECT trace_id FROM feedbacks')).map(({ trace_id: id }) => id),
    ['other'],
  )
  const after = (await call(acme.adminKey, 'GET', '/analytics/overview?measures=requests,cost')).body
  t.deepEqual(after['summary'], figures['summary'])
  t.like((await call(acme.adminKey, 'GET', '/analytics/overview?measures=requests,cost&cost_min=0')).body['summary'], {
    requests: 4,
    cost: 28,
  })
  const shown = await call(acme.adminKey, 'GET', `/logs/${stored}`)
  t.is(shown.status, 200)
  t.notRegex(shown.text, new RegExp(canary))
  t.is((shown.body['attempts'] as readonly unknown[]).length, 2)
  await erase({ user_id: ada }, rival.adminKey)
  t.deepEqual(await sightings(canary), [])
})

test.serial('logs are found by metadata too, and one call after the other erases many', async (t) => {
  const { acme } = exporting
  const many = Array.from({ length: 1003 }, (_, at) => recordOf(acme, at, { metadata: { _user: 'bo', env: at === 0 ? 'test' : 'prod' } }))
  await exporting.ship([...many, recordOf(acme, 3, { metadata: { _user: 'bob' } })])
  const told: unknown[] = []
  for (const metadata of [{ _user: 'bo', env: 'test' }, { _user: 'bo' }, { _user: 'bo' }, { _user: 'bo' }]) {
    const { body } = await erase({ metadata })
    told.push([body['erased'], body['has_more']])
  }
  t.deepEqual(told, [
    [1, false],
    [1000, true],
    [2, false],
    [0, false],
  ])
  const left = await sql<{ user: string }>(
    `SELECT DISTINCT metadata ->> '_user' AS user FROM logs WHERE metadata ? '_user' AND organisation_id = $1`,
    [acme.organisationId],
  )
  t.deepEqual(left, [{ user: 'bob' }])
})

test.serial('a log that is on its way to the log store waits', async (t) => {
  const { acme } = exporting
  const record = recordOf(acme, 3, { metadata: { _user: 'cy' } })
  await exporting.ship([record])
  await sql(
    `INSERT INTO log_uploads (id, organisation_id, workspace_id, created_at, due_at) SELECT id, organisation_id, workspace_id, created_at, now() + interval '1 minute' FROM logs WHERE id = $1`,
    [record.id],
  )
  t.like((await erase({ metadata: { _user: 'cy' } })).body, { erased: 0, waiting: 1, has_more: true })
  await sql(`UPDATE log_uploads SET due_at = now() WHERE id = $1`, [record.id])
  t.like((await erase({ metadata: { _user: 'cy' } })).body, { erased: 1, waiting: 0, has_more: false })
  t.deepEqual(await sql('SELECT FROM log_uploads WHERE id = $1', [record.id]), [])
})

test.serial('an object that Gatehouse may not delete is named, and its log forgets it', async (t) => {
  const elsewhere = await startExporting()
  t.teardown(() => elsewhere.close())
  const { acme, control } = elsewhere
  await elsewhere.ship([recordOf(acme, 3, { metadata: { _user: 'cy' } }), recordOf(acme, 4)])
  await control.sql.query(`UPDATE log_bodies SET object_key = '90/' || id`)
  const { rows } = await control.sql.query<{ key: string }>(
    `SELECT b.object_key AS key FROM log_bodies b JOIN logs l USING (id) WHERE l.metadata ->> '_user' = 'cy'`,
  )
  const { body } = await control.call(acme.adminKey, 'POST', '/logs/erasures', { metadata: { _user: 'cy' } })
  t.like(body, { erased: 1, objects: rows.map(({ key }) => key) })
  t.is((await control.sql.query('SELECT FROM log_bodies WHERE object_key IS NOT NULL')).rowCount, 1)
})

test.serial('the audit trail tells who erased whose logs, and how many', async (t) => {
  const { acme } = exporting
  const { body } = await erase({ user_id: ada })
  const answer = await call(acme.adminKey, 'GET', '/audit-logs?page_size=20')
  const row = dataOf(answer).find((one) => JSON.stringify(one).includes(String(body['id'])))
  t.truthy(row, answer.text)
  for (const part of ['erase', ada, '"erased":0']) t.true(JSON.stringify(row).includes(part), part)
})

test.serial('whoever may not, and whoever says nothing of whom, erases nothing', async (t) => {
  const { acme, rival } = exporting
  const record = recordOf(acme, 3, { metadata: { _user: 'dee' } })
  await exporting.ship([record])
  t.is((await erase({ metadata: { _user: 'dee' } }, acme.workspaceKey)).status, 403)
  t.like((await erase({ metadata: { _user: 'dee' } }, rival.adminKey)).body, { erased: 0 })
  t.like((await erase({ metadata: { _user: 'dee' }, workspace_id: 'side' })).body, { erased: 0 })
  for (const [body, param] of [
    [{}, 'user_id'],
    [{ metadata: {} }, 'user_id'],
    [{ user_id: 'ada' }, 'user_id'],
    [{ metadata: { _user: 3 } }, 'metadata._user'],
    [{ user_id: ada, colour: 'red' }, 'colour'],
    [{ user_id: ada, workspace_id: 'nowhere' }, 'workspace_id'],
  ] as const) {
    const refused = await erase(body)
    t.true([400, 404].includes(refused.status), refused.text)
    t.is(errorOf(refused).param, param, refused.text)
  }
  t.like((await erase({ metadata: { _user: 'dee' }, workspace_id: acme.workspaceId })).body, { erased: 1 })
})
