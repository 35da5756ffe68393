import type { ClientBase } from 'pg'
import { settledTraits } from '../src/features/analytics/usage-source.ts'

/** An organisation's logs of 30 days, in ten workspaces: skewed keys and models, few failures, latencies from 20 ms to 8 s. */
export interface LogAmounts {
  readonly rows: number
  readonly days: number
}

const dayMs = 24 * 60 * 60 * 1000
const perStatement = 100_000

/** SQL that inserts logs of a range; both ends as epoch milliseconds, and how many. */
const insert = `
  INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, provider, provider_slug, model,
                    status, outcome, stream, duration_ms, upstream_ms, first_byte_ms, input_tokens, output_tokens, total_tokens, usage_source,
                    retry_count, cache_status, trace_id, metadata, request_bytes, response_bytes, config_slug, cost_pico, cost_state, price_catalogue)
  SELECT (lpad(to_hex(at), 12, '0') || '7' || substr(md5(at || ':' || i), 1, 3) || 'a' || substr(md5(i::text), 1, 15))::uuid,
         w.organisation_id, w.id, to_timestamp(at / 1000.0), (lpad(to_hex(w.place * 100 + k), 8, '0') || '-0000-7000-8000-000000000000')::uuid,
         '192.0.2.7', 'POST', '/chat/completions', 'chatComplete', 'provider-' || m % 4, 'slug-' || m % 4, 'model-' || m,
         CASE WHEN r < 0.95 THEN 200 WHEN r < 0.97 THEN 429 WHEN r < 0.99 THEN 500 ELSE 400 END, CASE WHEN r < 0.96 THEN 'complete' ELSE 'error' END,
         true, exp(u * 6 + 3), 100, 120, tokens, tokens / 4, tokens + tokens / 4, 'provider', 0, CASE WHEN r < 0.1 THEN 'HIT' ELSE 'DISABLED' END,
         'trace-' || at || '-' || i, jsonb_build_object('_user', 'user-' || (u * 20000)::int, 'env', 'env-' || m % 3), 1000, 2000, 'pc-' || k % 3,
         tokens::bigint * 2500000, 'priced', 'bench'
    FROM (SELECT i, $1::bigint + (($2::bigint - $1::bigint) * i / $3::bigint) AS at, floor(random() * 10)::int AS place, floor(power(random(), 2) * 10)::int AS k,
                 floor(power(random(), 2) * 12)::int AS m, random() AS r, random() AS u, (random() * 4000)::int AS tokens
            FROM generate_series(0, $3::bigint - 1) i) x
    JOIN (SELECT id, organisation_id, (row_number() OVER (ORDER BY slug) - 1)::int AS place FROM workspaces) w USING (place)`

export async function addWorkspaces(client: ClientBase): Promise<void> {
  await client.query(`INSERT INTO workspaces (id, organisation_id, slug, name)
    SELECT gen_random_uuid(), o.id, 'bench-' || n, 'Workspace ' || n FROM organisations o, generate_series(1, 9) n`)
}

/** Fills the days up to now, without roll-ups; then counts them as an upgrade would. Returns the seconds of each. */
export async function fillLogs(client: ClientBase, { rows, days }: LogAmounts, say: (text: string) => void) {
  const now = Date.now()
  const startedAt = performance.now()
  await client.query('ALTER TABLE logs DISABLE TRIGGER logs_usage')
  for (let day = days; day >= 0; day--)
    await client.query('SELECT ensure_log_partitions($1::date)', [new Date(now - day * dayMs).toISOString().slice(0, 10)])
  const statements = Math.ceil(rows / perStatement)
  const length = (days * dayMs) / statements
  for (let at = 0; at < statements; at++) {
    const from = Math.floor(now - days * dayMs + at * length)
    await client.query(insert, [from, Math.floor(from + length), perStatement])
    if (at % 10 === 9) say(`${((at + 1) * perStatement).toLocaleString('en')} logs`)
  }
  await client.query('ALTER TABLE logs ENABLE TRIGGER logs_usage')
  const filled = (performance.now() - startedAt) / 1000
  await client.query(`UPDATE usage_state SET complete_from = date_trunc('day', now(), 'UTC') + interval '1 day'`)
  const countingAt = performance.now()
  for (let more = true; more;) {
    const answer = await client.query<{ more: boolean }>('SELECT fill_usage(50000) AS more')
    more = answer.rows[0]?.more === true
  }
  const counted = (performance.now() - countingAt) / 1000
  await client.query('ANALYZE usage_days')
  for (let ago = 1; ago <= days; ago++) {
    const day = `date_trunc('day', now(), 'UTC') - interval '${ago} days'`
    await client.query(`SELECT begin_settling(${day})`)
    for (const trait of ['all', ...settledTraits]) await client.query(`SELECT settle_latencies(${day}, $1)`, [trait])
    // The job of the process that runs beside may have settled it meanwhile.
    await client.query(`INSERT INTO usage_settled_days VALUES (${day}) ON CONFLICT DO NOTHING`)
  }
  const settled = (performance.now() - countingAt) / 1000 - counted
  await client.query('VACUUM (ANALYZE) logs')
  await client.query('VACUUM (ANALYZE) usage_hours, usage_days, usage_day_latencies, usage_user_hours, usage_user_days')
  return { filled, counted, settled }
}

/** Returns the megabytes of logs with their indexes, and of roll-ups. */
export async function sizesOf(client: ClientBase): Promise<{ readonly logs: number; readonly rollUps: number; readonly rows: number }> {
  const { rows } = await client.query<{ logs: number; rollups: number; n: number }>(`
    SELECT (SELECT sum(pg_total_relation_size(inhrelid))::float8 / 1e6 FROM pg_inherits WHERE inhparent = 'logs'::regclass) AS logs,
           (SELECT sum(pg_total_relation_size(t))::float8 / 1e6 FROM unnest('{usage_hours,usage_days,usage_day_latencies,usage_user_hours,usage_user_days}'::regclass[]) t) AS rollups,
           (SELECT count(*)::float8 FROM usage_hours) AS n`)
  return { logs: rows[0]?.logs ?? NaN, rollUps: rows[0]?.rollups ?? NaN, rows: rows[0]?.n ?? NaN }
}
