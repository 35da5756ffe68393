import { Client, type ClientBase, type ClientConfig } from 'pg'
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

/** Fills the days up to now, with roll-ups; then settles the days that are over. Returns the seconds of each. */
export async function fillLogs(server: ClientConfig, amounts: LogAmounts, say: (text: string) => void) {
  const clients = [new Client(server), new Client(server)]
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const now = Date.now()
    const startedAt = performance.now()
    for (let day = amounts.days; day >= 0; day--)
      await clients[0]?.query('SELECT ensure_log_partitions($1::date)', [new Date(now - day * dayMs).toISOString().slice(0, 10)])
    const half = { rows: amounts.rows / 2, days: amounts.days / 2 }
    // The days differ: a counter of the logs of a day waits for other counters of it.
    await Promise.all(clients.map((client, at) => fillHalf(client, { ...half, until: now - at * half.days * dayMs }, say)))
    const filled = (performance.now() - startedAt) / 1000
    await settle(clients[0], amounts.days)
    return { filled, settled: (performance.now() - startedAt) / 1000 - filled }
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

async function fillHalf(client: Client, { rows, days, until }: LogAmounts & { readonly until: number }, say: (text: string) => void) {
  const statements = Math.ceil(rows / perStatement)
  const length = (days * dayMs) / statements
  for (let at = 0; at < statements; at++) {
    const from = Math.floor(until - days * dayMs + at * length)
    await client.query(insert, [from, Math.floor(from + length), Math.min(perStatement, rows)])
    if (at % 10 === 9) say(`${((at + 1) * perStatement).toLocaleString('en')} logs of a half`)
  }
}

async function settle(client: Client | undefined, days: number): Promise<void> {
  await client?.query('ANALYZE usage_days')
  for (let ago = 1; ago <= days; ago++) {
    const day = `date_trunc('day', now(), 'UTC') - interval '${ago} days'`
    await client?.query(`SELECT begin_settling(${day})`)
    for (const trait of ['all', ...settledTraits]) await client?.query(`SELECT settle_latencies(${day}, $1)`, [trait])
    await client?.query(`SELECT settle_users(${day})`)
    // The job of the process that runs beside may have settled it meanwhile.
    await client?.query(`INSERT INTO usage_settled_days VALUES (${day}) ON CONFLICT DO NOTHING`)
  }
  await client?.query('VACUUM (ANALYZE) logs')
  await client?.query(
    'VACUUM (ANALYZE) usage_hours, usage_days, usage_day_latencies, usage_day_users, usage_user_hours, usage_user_days, usage_user_sums',
  )
}

/** How many of the latest logs have bodies: those that are searched and exported. */
export const withBodies = (rows: number): number => Math.round(rows / 10)

/** Every so many logs with bodies one has it. */
export const markedEvery = 100_000
const words = 2_000

/** Returns a text of made-up words. */
function corpusOf(): string {
  const syllables = ['ka', 'lo', 'mi', 'ren', 'su', 'ta', 'vo', 'zen', 'bri', 'dal', 'fe', 'gu', 'ho', 'ji', 'na', 'per']
  const pick = () => syllables[Math.floor(Math.random() * syllables.length)] ?? ''
  return Array.from({ length: words }, () => Array.from({ length: 2 + Math.floor(Math.random() * 3) }, pick).join('')).join(' ')
}

/** Returns a maker of texts of a kilobyte out of the same words. */
export function kilobytes(): (place: number) => string {
  const corpus = corpusOf()
  return (place) => corpus.slice((place * 7919) % (corpus.length - 1000)).slice(0, 1000)
}

/** Gives bodies to the latest logs: a kilobyte of words each, and here and there a marked one. Returns the time of the first of them. */
export async function fillBodies(client: ClientBase, rows: number): Promise<number> {
  const corpus = corpusOf()
  const { rows: first } = await client.query<{ at: string; ms: number }>(
    `SELECT created_at::text AS at, (extract(epoch FROM created_at) * 1000)::float8 AS ms FROM logs ORDER BY created_at DESC OFFSET $1 LIMIT 1`,
    [withBodies(rows) - 1],
  )
  await client.query(
    `INSERT INTO log_bodies (id, organisation_id, created_at, request_headers, response_headers, request_body, response_body, request_truncated, response_truncated)
     SELECT id, organisation_id, created_at, '{"content-type":"application/json"}', '{"content-type":"application/json"}',
            convert_to('{"model":"m","messages":[{"role":"user","content":"' || substr($2::text, (1 + n * 7919 % (length($2::text) - 1000))::int, 900) ||
                       CASE WHEN n % ${markedEvery} = 0 THEN ' Marked order 4711' ELSE '' END || '"}]}', 'UTF8'),
            convert_to('{"choices":[{"message":{"content":"' || substr($2::text, (1 + n * 104729 % (length($2::text) - 1000))::int, 150) || '"}}]}', 'UTF8'), false, false
       FROM (SELECT id, organisation_id, created_at, row_number() OVER (ORDER BY created_at DESC) AS n FROM logs WHERE created_at >= $1::timestamptz) l ON CONFLICT DO NOTHING`,
    [first[0]?.at, corpus],
  )
  await client.query('VACUUM (ANALYZE) log_bodies')
  return first[0]?.ms ?? NaN
}

/** Returns the megabytes of logs with their indexes, and of roll-ups. */
export async function sizesOf(client: ClientBase): Promise<{ readonly logs: number; readonly rollUps: number; readonly rows: number }> {
  const { rows } = await client.query<{ logs: number; rollups: number; n: number }>(`
    SELECT (SELECT sum(pg_total_relation_size(inhrelid))::float8 / 1e6 FROM pg_inherits WHERE inhparent = 'logs'::regclass) AS logs,
           (SELECT sum(pg_total_relation_size(t))::float8 / 1e6 FROM unnest('{usage_hours,usage_days,usage_day_latencies,usage_day_users,usage_user_hours,usage_user_days,usage_user_sums}'::regclass[]) t) AS rollups,
           (SELECT count(*)::float8 FROM usage_hours) AS n`)
  return { logs: rows[0]?.logs ?? NaN, rollUps: rows[0]?.rollups ?? NaN, rows: rows[0]?.n ?? NaN }
}
