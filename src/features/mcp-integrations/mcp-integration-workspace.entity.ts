import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The access of a workspace to an MCP integration of the organisation; overrides the integration's global access. */
export const McpIntegrationWorkspace = defineEntity({
  name: 'McpIntegrationWorkspace',
  tableName: 'mcp_integration_workspaces',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    workspaceId: p.uuid(),
    enabled: p.boolean().default(true),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpIntegrationWorkspace = InferEntity<typeof McpIntegrationWorkspace>
