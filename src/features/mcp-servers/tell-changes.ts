import type { EntityManager } from '@mikro-orm/postgresql'
import { jobEntry } from '../../app/audit/job-entry.ts'
import { writeAudit } from '../../app/audit/write.ts'
import type { Deps } from '../../app/deps.ts'
import { tellEvent } from '../../app/events/notice.ts'
import { isOn } from '../../config/effect.ts'
import type { McpEventType } from '../alerts/index.ts'
import { queueEvent } from '../alerts/index.ts'
import { approve, readCapabilities, type ServerCapability } from './capabilities.ts'
import { McpServerEntity } from './mcp-server.entity.ts'

/** Rows without a setting, of capabilities that are forgotten. */
const forgetRules = `
  DELETE FROM mcp_server_capabilities r USING mcp_servers s
   WHERE s.id = r.server_id AND s.integration_id = ? AND r.enabled IS NULL
     AND NOT EXISTS (SELECT FROM mcp_capabilities c WHERE c.integration_id = s.integration_id AND c.type = r.type AND c.name = r.name)`

/** Notes that a definition was in an event. */
const noteTold = `
  INSERT INTO mcp_server_capabilities AS r (id, organisation_id, server_id, type, name, told_hash)
  SELECT gen_random_uuid(), ?, ?, t.type, t.name, t.hash FROM jsonb_to_recordset(?) AS t (type text, name text, hash text)
  ON CONFLICT (server_id, type, name) DO UPDATE SET told_hash = EXCLUDED.told_hash
  RETURNING r.id, r.type, r.name, r.told_hash AS hash, r.pinned_hash AS approved`

interface ToldRow {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly hash: string
  readonly approved: string | null
}

/**
 * Announces new and changed definitions after a sync: once for each server that pins, in the trail, to event streams and to webhooks. Servers that only
 * flag begin with the definitions of the first sync. Returns how many definitions wait, on all servers.
 */
export async function tellChanges(
  em: EntityManager,
  deps: Deps,
  {
    organisationId,
    integrationId,
    isFirst,
  }: { readonly organisationId: string; readonly integrationId: string; readonly isFirst: boolean },
): Promise<number> {
  await em.execute(forgetRules, [integrationId])
  const servers = await em.find(
    McpServerEntity,
    { organisationId, integrationId, status: 'active', pinning: { $ne: 'off' } },
    { orderBy: { id: 'asc' } },
  )
  let held = 0
  for (const server of servers) {
    if (isFirst && server.pinning === 'flag') {
      await approve(em, server, { approvals: null, decider: { by: null, at: new Date(deps.clock.now()) } })
      continue
    }
    const open = (await readCapabilities(em, server)).filter(({ known, standing }) => known?.isRemoved === false && standing !== 'approved')
    held += open.filter(({ standing }) => standing !== 'flagged').length
    const untold = open.filter(({ known, rule }) => rule?.toldHash !== known?.hash)
    if (untold.length > 0) await tell(em, deps, { server, untold })
  }
  return held
}

interface Untold {
  readonly server: McpServerEntity
  readonly untold: readonly ServerCapability[]
}

const mostListed = 100

async function tell(em: EntityManager, deps: Deps, { server, untold }: Untold): Promise<void> {
  const { id, organisationId, workspaceId, name, pinning } = server
  const hashes = untold.map((one) => ({ type: one.type, name: one.name, hash: one.known?.hash }))
  const rows = await em.execute<ToldRow[]>(noteTold, [organisationId, id, JSON.stringify(hashes)])
  const at = deps.clock.now()
  const action = pinning === 'hold' ? 'hold' : 'flag'
  const type: McpEventType = pinning === 'hold' ? 'mcp.capability_held' : 'mcp.capability_changed'
  await tellEvent(em, { topic: 'changes', organisationId, workspaceId, resource: 'mcp-server', id, action, families: ['mcp_servers'] })
  if (isOn('AUDIT_LOGS_ENABLED', deps.config, deps.level)) {
    const changes = rows.map((row) => ({
      table: 'mcp_server_capabilities',
      id: row.id,
      before: { pinned_hash: row.approved },
      after: { type: row.type, name: row.name, told_hash: row.hash },
    }))
    const entry = { job: 'mcp-sync', organisationId, workspaceId, action, resourceType: 'mcp-server', resourceId: id, changes, at }
    await writeAudit(em, deps.vault, jobEntry(entry))
  }
  const capabilities = rows
    .slice(0, mostListed)
    .map((row) => ({ type: row.type, name: row.name, hash: row.hash, approved_hash: row.approved }))
  const data = { organisation_id: organisationId, workspace_id: workspaceId, object: 'mcp_server', object_id: id, object_name: name }
  await queueEvent(em, { type, organisationId, workspaceId, data: { ...data, total: rows.length, capabilities }, now: at })
}
