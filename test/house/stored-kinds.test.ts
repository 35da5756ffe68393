import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { storedKinds } from '../../src/lib/stored-kinds.ts'

/** Tables that grow by requests of callers and are no kind of their own, each with its bound. */
const bounded: Readonly<Record<string, string>> = {
  alert_deliveries: 'webhooks times alerts, and kept for some days',
  audit_heads: 'one of each organisation',
  audit_logs: 'AUDIT_LOG_RETENTION_DAYS, and a request each',
  batch_lines: 'so many of each batch, and they go when it ends',
  batches: 'so many of each organisation that have not ended, and a job deletes old ones',
  breakers: 'one of each target of a config, and a job deletes those that are over',
  cache_purges: 'a job deletes what all processes have seen',
  cached_answers: 'RESPONSE_CACHE_STORED_IN_MB of each organisation',
  changes: 'a job deletes what all processes have seen',
  cost_adjustments: 'logs, whose time they share',
  data_keys: 'one of each organisation and rotation',
  file_pieces: 'files, which they are parts of',
  files: 'FILES_STORED_IN_MB of each organisation, where a short one counts as 4 KiB',
  idempotency_keys: 'a job deletes those of yesterday',
  identity_providers: 'one of each organisation',
  integration_workspaces: 'integrations times workspaces',
  limit_alerts: 'policies and keys times thresholds',
  limit_counters: 'what limits count: policies and keys times their values',
  limit_doubts: 'what limits count: policies and keys times their values',
  limit_leases: 'processes times counters',
  log_bodies: 'logs, whose time they share',
  log_export_parts: 'exports, whose time they share',
  log_uploads: 'logs, whose time they share',
  log_words: 'logs, whose time they share',
  logs: 'the retention of logs, which limits of requests bound',
  mail_outcomes: 'a job deletes old ones',
  mcp_capabilities: 'MCP integrations times the most that one may offer',
  mcp_capability_versions: 'capabilities of MCP times the versions that are kept',
  mcp_integration_workspaces: 'MCP integrations times workspaces',
  mcp_client_documents: '500 of each organisation',
  mcp_client_registrations: 'one of each MCP integration',
  mcp_connection_requests: '20 of each user, and a job deletes those that are over',
  mcp_grants: 'MCP servers times users, and one of each MCP integration',
  mcp_server_capabilities: 'MCP servers times what their integrations offer',
  mcp_server_users: 'MCP servers times users',
  mcp_sign_in_secrets: 'so many of each sign-in and user, and a job deletes those that are over',
  one_time_links: 'users and invites, at the pace of sign-ins',
  organisations: 'the operator alone makes them',
  outgoing_mails: 'a job deletes those that are sent',
  passkeys: 'so many of each user',
  provider_batches: 'logs of batches, and a job deletes old ones',
  recovery_codes: 'ten of each user',
  scim_activity: 'a job deletes old ones',
  scim_group_members: 'SCIM groups times users',
  scim_users: 'one of each user',
  secret_reference_reads: 'one of each secret reference',
  sessions: 'a job deletes those that are over',
  sso_groups: 'one of each group that sign-ins name, of bounded length',
  stored_responses: 'KEPT_RESPONSES_STORED_IN_MB of each organisation, by a job',
  test_sign_ins: 'a job deletes those that are over',
  trace_spans: 'TRACE_SPANS_STORED_IN_MB of each organisation, by a job',
  usage_limit_policy_entities: 'usage limits times the values that they are grouped by',
  usage_day_latencies: 'one of each day and workspace',
  usage_day_users: 'one of each day and user that requests name',
  usage_user_sums: 'one of each user that requests name',
  used_sign_ins: 'a job deletes those that are over',
  user_identities: 'one of each user and issuer',
  user_passwords: 'one of each user',
  user_preferences: 'one of each user',
  user_totps: 'one of each user',
  workspace_members: 'workspaces times users',
}

const migrations = path.resolve(import.meta.dirname, '../../migrations')

async function tenantTables(): Promise<ReadonlySet<string>> {
  const files = (await readdir(migrations, { recursive: true })).filter((name) => name.endsWith('.sql'))
  const tables = new Set<string>()
  for (const file of files)
    for (const [, name = '', columns = ''] of (await readFile(path.join(migrations, file), 'utf8')).matchAll(
      /CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+) \((.*?)\n\)/gs,
    ))
      if (/^\s*organisation_id /m.test(columns)) tables.add(name)
  return tables
}

test('each table of organisations holds a kind of things that is bounded, or says what bounds it', async (t) => {
  const tables = await tenantTables()
  t.true(tables.size > 60)
  const known = [...Object.keys(storedKinds), ...Object.keys(bounded)]
  t.deepEqual(
    [...tables].filter((name) => !known.includes(name)).toSorted(),
    [],
    'give it a row in src/lib/stored-kinds.ts, or say here what bounds it',
  )
  t.deepEqual(
    known.filter((name) => name !== 'organisations' && !tables.has(name)),
    [],
    'there is no such table',
  )
  t.deepEqual(
    Object.keys(storedKinds).filter((name) => Object.hasOwn(bounded, name)),
    [],
  )
})
