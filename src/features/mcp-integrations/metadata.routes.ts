import { z } from 'zod'
import { route } from '../../app/route.ts'
import { demandRead, findMcpIntegration, mcpScopes } from './access.ts'
import type { McpIntegration } from './mcp-integration.entity.ts'
import { mcpIntegrationParams } from './mcp-integration.schema.ts'
import { metadataFields } from './metadata.schema.ts'

const integrationMetadata = z
  .object(metadataFields)
  .meta({ id: 'McpIntegrationMetadata', description: 'The facts that an MCP server tells of itself, as the last sync found them.' })

/** The facts of a server as lists show them. */
export const presentTold = ({ serverInfo, protocolVersions, syncStatus }: McpIntegration) => ({
  title: serverInfo?.title ?? null,
  server_description: serverInfo?.description ?? null,
  icons: serverInfo?.icons ? [...serverInfo.icons] : null,
  server_name: serverInfo?.name ?? null,
  server_version: serverInfo?.version ?? null,
  protocol_version: protocolVersions[0] ?? null,
  sync_status: syncStatus,
})

/** All facts of a server. */
export function presentMetadata(row: McpIntegration) {
  const at = row.lastSyncAt?.toISOString() ?? null
  return {
    ...presentTold(row),
    protocol_versions: [...row.protocolVersions],
    era: row.era ?? null,
    capability_flags: row.capabilityFlags ? { ...row.capabilityFlags } : null,
    last_synced_at: at,
    last_sync_at: at,
    sync_error: row.syncError ?? null,
  }
}

export const readMcpMetadata = route({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegrationId/metadata',
  summary: 'Read what an MCP server tells of itself, by its integration',
  permission: mcpScopes('read'),
  params: mcpIntegrationParams,
  response: integrationMetadata,
})(async ({ em, actor, params }) => {
  const row = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'read' })
  demandRead(actor, row.workspaceId)
  return presentMetadata(row)
})
