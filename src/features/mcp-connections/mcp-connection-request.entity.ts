import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A sign-in of a person at an MCP server that has begun. Its state leads back to it, once, in the session that began it. */
export const McpConnectionRequest = defineEntity({
  name: 'McpConnectionRequest',
  tableName: 'mcp_connection_requests',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    serverId: p.uuid(),
    sessionId: p.uuid(),
    /** Of the state. */
    keyHash: p.blob(),
    /** As sealed JSON. */
    contents: p.blob(),
    expiresAt: p.datetime(),
    createdAt: createdAt(),
  },
})

export type McpConnectionRequest = InferEntity<typeof McpConnectionRequest>
