import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The tokens that Gatehouse has at an MCP server, for itself or for one person. */
export const McpGrant = defineEntity({
  name: 'McpGrant',
  tableName: 'mcp_grants',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    /** Null, with its user: the tokens of Gatehouse itself. */
    serverId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    issuer: p.string().length(2048).nullable(),
    /** As sealed JSON; read them with `openContents`. Null: none were given yet. */
    contents: p.blob().nullable(),
    /** Counts the tokens. */
    generation: p.integer().default(0),
    expiresAt: p.datetime().nullable(),
    /** One process renews the tokens until then. */
    claimedUntil: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpGrant = InferEntity<typeof McpGrant>
