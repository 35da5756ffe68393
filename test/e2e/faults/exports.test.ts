import { createHash } from 'node:crypto'
import test from 'ava'
import type { Client } from 'pg'
import { inDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { ask } from '../../support/tenants.ts'

let gatehouse: Gatehouse
test.before(async () => void (gatehouse = await startGatehouse({ env: { ROLES: 'control,jobs' } })))
test.after.always(() => gatehouse?.stop())

const logs = 60_000

/** Logs of the first workspace in the last hours, many of them at the same millisecond. */
const insertLogs = async (client: Client) => {
  await client.query(`SELECT ensure_log_partitions(day::date) FROM generate_series(now() - interval '1 day', now(), '1 day') day`)
  await client.query(
    `INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, provider, model, status,
                       outcome, stream, duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, billed)
     SELECT gen_random_uuid(), w.organisation_id, w.id, date_trunc('milliseconds', now() - (n / 7) * interval '300 milliseconds'),
            gen_random_uuid(), '127.0.0.1', 'POST', '/chat/completions', 'chatComplete', 'openai', 'gpt-4o', 200, 'complete', false, 12,
            'provider', 0, 'DISABLED', 'trace ' || n, 10, 20, true
       FROM (SELECT id, organisation_id FROM workspaces ORDER BY created_at LIMIT 1) w, generate_series(1, $1::int) n`,
    [logs],
  )
}

const call = async (method: string, path: string, body?: unknown) => {
  const { status, text } = await ask(gatehouse, workspaceKey, { method, path: `/logs/exports${path}`, body })
  return { status, body: JSON.parse(text) as Readonly<Record<string, unknown>> }
}
const read = async (id: string) => (await call('GET', `/${id}`)).body
const until = (id: string, condition: (found: Readonly<Record<string, unknown>>) => boolean, what: string) =>
  eventually(async () => condition(await read(id)), 120_000, what)

test.serial('an export outlives kill -9 and a time in which exports are off: the file is whole, and each log is in it once', async (t) => {
  await inDatabase(gatehouse.superuser, insertLogs)
  const drafted = await call('POST', '', { filters: {}, requested_data: ['id', 'trace_id', 'created_at'] })
  const id = String(drafted.body['id'])
  t.like(drafted.body, { total: 50_000 })
  t.is((await call('POST', `/${id}/start`)).status, 200)
  await until(id, ({ rows }) => Number(rows) > 0, 'the first part')
  await gatehouse.signal('SIGKILL')
  const before = await inDatabase(gatehouse.superuser, (client) => client.query<{ status: string; rows: number }>(standing, [id]))
  t.is(before.rows[0]?.status, 'in_progress', 'the kill came too late')
  await gatehouse.restart({ env: { DATA_EXPORTS_ENABLED: 'OFF' } })
  const off = await call('GET', `/${id}`)
  t.like(off, { status: 404, body: { error: { code: 'feature_unavailable' } } })
  t.deepEqual((await inDatabase(gatehouse.superuser, (client) => client.query(standing, [id]))).rows, before.rows)
  await gatehouse.signal('SIGKILL')
  await gatehouse.restart({ env: { DATA_EXPORTS_ENABLED: 'ON' } })
  await until(id, ({ status }) => status !== 'in_progress', 'the end')
  t.like(await read(id), { status: 'success', rows: logs, error: null })
  const link = new URL(String((await call('GET', `/${id}/download`)).body['signed_url']))
  const { text } = await send(`${gatehouse.origin}${link.pathname}${link.search}`, { method: 'GET', headers: {} })
  const rows = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { trace_id: string; created_at: string })
  t.is(rows.length, logs)
  t.is((await read(id))['sha256'], createHash('sha256').update(text).digest('hex'))
  t.is(new Set(rows.map((row) => row.trace_id)).size, logs)
  t.true(rows.every((row, at) => at === 0 || (rows[at - 1]?.created_at ?? '') <= row.created_at))
})

const standing = 'SELECT status, row_count::int AS rows FROM log_exports WHERE id = $1'
