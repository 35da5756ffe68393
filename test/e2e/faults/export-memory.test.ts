import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Client } from 'pg'
import { inDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { ask } from '../../support/tenants.ts'

/** EXPORTED_LOGS=1000000 measures the figures of docs/guide/exports.md for a million. */
const logs = Number(process.env['EXPORTED_LOGS'] ?? 40_000)
const bodyBytes = 2_000

let gatehouse: Gatehouse
test.before(async () => void (gatehouse = await startGatehouse({ env: { ROLES: 'control,jobs' } })))
test.after.always(() => gatehouse?.stop())

const moment = `date_trunc('milliseconds', now() - n * interval '40 milliseconds')`
async function insertLogs(client: Client): Promise<void> {
  await client.query(`SELECT ensure_log_partitions(day::date) FROM generate_series(now() - interval '1 day', now(), '1 day') day`)
  await client.query(
    `WITH numbers AS MATERIALIZED (
       SELECT n, gen_random_uuid() AS id, ${moment} AS created_at, w.id AS workspace_id, w.organisation_id
         FROM (SELECT id, organisation_id FROM workspaces ORDER BY created_at LIMIT 1) w, generate_series(1, $1::int) n),
     logged AS (
       INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, provider, model, status,
                         outcome, stream, duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, billed)
       SELECT id, organisation_id, workspace_id, created_at, gen_random_uuid(), '127.0.0.1', 'POST', '/chat/completions', 'chatComplete', 'openai',
              'gpt-4o', 200, 'complete', false, 12, 'provider', 0, 'DISABLED', 'trace ' || n, $2::int, 20, true FROM numbers)
     INSERT INTO log_bodies (id, organisation_id, created_at, request_headers, response_headers, request_body, response_body, request_truncated, response_truncated)
     SELECT id, organisation_id, created_at, '{}', '{}', convert_to('{"ask":"' || left(repeat(md5(n::text), 63), $2::int) || '"}', 'UTF8'), '{}', false, false
       FROM numbers`,
    [logs, bodyBytes],
  )
}

const call = async (method: string, path: string, body?: unknown) => {
  const { status, text } = await ask(gatehouse, workspaceKey, { method, path: `/logs/exports${path}`, body })
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

/** The memory of the process, in megabytes: now, and at most so far. */
const memory = (name: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(String.raw`${name}:\s+(\d+)`).exec(readFileSync(`/proc/${gatehouse.process.pid}/status`, 'utf8'))?.[1]) / 1024

for (const format of ['jsonl', 'parquet'])
  test.serial(`memory does not grow with an export: ${format}`, async (t) => {
    if (format === 'jsonl') await inDatabase(gatehouse.superuser, insertLogs)
    const idle = memory('VmRSS')
    const from = performance.now()
    const { id } = await call('POST', '', { filters: {}, requested_data: ['id', 'created_at', 'ai_model', 'cost', 'request'], format })
    await call('POST', `/${String(id)}/start`)
    await eventually(async () => (await call('GET', `/${String(id)}`))['status'] !== 'in_progress', 170_000 + logs, 'the end')
    const made = await call('GET', `/${String(id)}`)
    t.like(made, { status: 'success', rows: logs })
    const [seconds, making] = [(performance.now() - from) / 1000, memory('VmHWM')]
    const link = new URL(String((await call('GET', `/${String(id)}/download`))['signed_url']))
    const { body } = await fetch(`${gatehouse.origin}${link.pathname}${link.search}`)
    let bytes = 0
    for await (const chunk of body ?? []) bytes += chunk.length
    t.is(bytes, Number(made['bytes']))
    t.log(
      `${logs} logs, ${Math.round(bytes / 1e6)} MB in ${seconds.toFixed(1)} s; MB: ${Math.round(idle)} before, at most ${Math.round(making)} while it was made, ${Math.round(memory('VmHWM'))} while it was downloaded`,
    )
    t.true(memory('VmHWM') < 450, `${memory('VmHWM')} MB`)
  })
