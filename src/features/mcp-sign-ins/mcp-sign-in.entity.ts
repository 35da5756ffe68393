import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The leave of a person for one program to use one MCP server as they may. One that ended has no row. */
export const McpSignIn = defineEntity({
  name: 'McpSignIn',
  tableName: 'mcp_sign_ins',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    userId: p.uuid(),
    serverId: p.uuid(),
    /** The address of the program's metadata document. */
    clientId: p.string().length(2048),
    clientName: p.string().length(255).nullable(),
    redirectUri: p.string().length(2048),
    /** The address of the server as the program names it (RFC 8707). */
    resource: p.string().length(2048),
    lastRefreshedAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    createdAt: createdAt(),
  },
})

export type McpSignIn = InferEntity<typeof McpSignIn>
