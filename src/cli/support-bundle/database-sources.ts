import type { Client } from 'pg'
import { describeError } from '../../app/logging/describe-error.ts'
import { hasTable } from '../preflight/checks/schema.ts'
import type { Source } from './source.ts'

type Rows = readonly Record<string, unknown>[]

const rowsOf = async (client: Client, sql: string): Promise<Rows> => (await client.query<Record<string, unknown>>(sql)).rows

/** The answers to several questions, by name; a question that fails answers why, and the others are asked all the same. */
async function ask(client: Client, questions: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {}
  await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = '10s'; SET LOCAL app.scope = 'system'`)
  try {
    for (const [name, sql] of Object.entries(questions)) {
      await client.query('SAVEPOINT question')
      try {
        answers[name] = await rowsOf(client, sql)
      } catch (error) {
        answers[name] = { failed: describeError(error).message }
        await client.query('ROLLBACK TO SAVEPOINT question')
      }
    }
  } finally {
    await client.query('ROLLBACK')
  }
  return answers
}

/** The settings and the state of PostgreSQL. Running statements are reduced to their first word. */
export const postgresSource: Source = {
  name: 'PostgreSQL',
  async collect({ stage }) {
    const { client } = await stage.database()
    return [{ path: 'postgres.json', document: await ask(client, postgresQuestions) }]
  },
}

const postgresQuestions = {
  server: `SELECT version(), current_database() AS database, current_user AS login, pg_is_in_recovery() AS standby,
      pg_postmaster_start_time() AS started, pg_database_size(current_database()) AS database_bytes, current_setting('server_encoding') AS encoding,
      (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation`,
  settings: `SELECT name, setting, unit, source FROM pg_settings WHERE name = ANY ('{max_connections,shared_buffers,effective_cache_size,work_mem,
      maintenance_work_mem,wal_level,max_wal_size,checkpoint_timeout,synchronous_commit,fsync,full_page_writes,autovacuum,statement_timeout,lock_timeout,
      idle_in_transaction_session_timeout,idle_session_timeout,default_transaction_isolation,default_transaction_read_only,max_prepared_transactions,
      search_path,TimeZone,ssl,password_encryption,track_counts,random_page_cost,jit,server_version}'::text[]) ORDER BY name`,
  database: `SELECT numbackends, xact_commit, xact_rollback, blks_read, blks_hit, deadlocks, conflicts, temp_files, temp_bytes, stats_reset
      FROM pg_stat_database WHERE datname = current_database()`,
  tables: `SELECT relname AS table, n_live_tup AS rows, n_dead_tup AS dead_rows, pg_total_relation_size(relid) AS bytes, seq_scan, idx_scan, n_tup_ins,
      n_tup_upd, n_tup_del, last_vacuum, last_autovacuum, last_analyze, last_autoanalyze
      FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 200`,
  invalid_indexes: `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table FROM pg_index WHERE NOT indisvalid`,
  sessions: `SELECT pid, application_name, client_addr, state, wait_event_type, wait_event, backend_start, xact_start, query_start, state_change,
      upper(substring(query from '^\\s*(\\w+)')) AS statement FROM pg_stat_activity WHERE datname = current_database() ORDER BY xact_start NULLS LAST LIMIT 200`,
  waiting_locks: `SELECT pid, locktype, mode, relation::regclass::text AS relation, pg_blocking_pids(pid) AS blocked_by FROM pg_locks WHERE NOT granted LIMIT 100`,
  replication: `SELECT slot_type, active, wal_status FROM pg_replication_slots`,
} as const

/** The history of installed releases, and the state of the schema. */
export const historySource: Source = {
  name: 'release history',
  async collect({ stage }) {
    const { client } = await stage.database()
    return [{ path: 'release-history.json', document: await ask(client, await presentIn(client, historyQuestions)) }]
  },
}

/** The fingerprint of a key reveals no part of it; under its own name it would be taken for a key. */
const historyQuestions: Readonly<Record<string, string>> = {
  schema_migrations: 'SELECT * FROM schema_migrations ORDER BY id',
  release_history: 'SELECT * FROM release_history ORDER BY id',
  release_state: 'SELECT level, schema_head, min_app_version, encryption_key_fp AS fingerprint, updated_at FROM release_state',
  backfill_state: 'SELECT * FROM backfill_state ORDER BY id',
}

/** The questions about tables that are there; each has the name of its table. */
async function presentIn(client: Client, questions: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const present: Record<string, string> = {}
  for (const [table, sql] of Object.entries(questions)) if (await hasTable(client, table)) present[table] = sql
  return present
}

/** The amount of each content: counts alone, no names and no contents. */
export const contentSource: Source = {
  name: 'content',
  async collect({ stage }) {
    const { client } = await stage.database()
    return [{ path: 'content.json', document: await ask(client, await presentIn(client, contentQuestions)) }]
  },
}

const contentQuestions: Readonly<Record<string, string>> = {
  organisations: 'SELECT status, count(*)::int FROM organisations GROUP BY 1 ORDER BY 1',
  workspaces: 'SELECT status, count(*)::int FROM workspaces GROUP BY 1 ORDER BY 1',
  api_keys: 'SELECT type, status, count(*)::int FROM api_keys GROUP BY 1, 2 ORDER BY 1, 2',
  integrations: 'SELECT ai_provider_id AS provider, kind, status, count(*)::int FROM integrations GROUP BY 1, 2, 3 ORDER BY 1, 2, 3',
  providers: 'SELECT kind, status, count(*)::int FROM providers GROUP BY 1, 2 ORDER BY 1, 2',
  instance_secrets: 'SELECT name, kek_fingerprint AS fingerprint, created_at FROM instance_secrets ORDER BY 1',
  data_keys: 'SELECT kek_fingerprint AS fingerprint, count(*)::int FROM data_keys GROUP BY 1 ORDER BY 1',
  journal_cursors: 'SELECT node, segment, shipped_bytes, updated_at FROM journal_cursors ORDER BY updated_at DESC LIMIT 100',
}

/** The last failed exchanges, and the last changes: actor, action, time and outcome, without any content. */
export const recentSource: Source = {
  name: 'recent exchanges',
  async collect({ stage }) {
    const { client } = await stage.database()
    if (!(await hasTable(client, 'logs'))) return []
    return [{ path: 'recent.json', document: await ask(client, recentQuestions) }]
  },
}

const recentQuestions = {
  failed_exchanges: `SELECT id, created_at, method, split_part(path, '?', 1) AS path, operation, provider, status, outcome, error_code, stream, duration_ms,
      upstream_ms, first_byte_ms, retry_count, request_bytes, response_bytes
      FROM logs WHERE created_at > now() - interval '1 day' AND status >= 400 ORDER BY created_at DESC LIMIT 200`,
  exchanges_by_hour: `SELECT date_trunc('hour', created_at) AS hour, status, count(*)::int, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
      FROM logs WHERE created_at > now() - interval '1 day' GROUP BY 1, 2 ORDER BY 1, 2`,
  changes: `SELECT at, actor_type, action, resource_type, resource_id, method, response_status FROM audit_logs ORDER BY at DESC LIMIT 100`,
} as const
