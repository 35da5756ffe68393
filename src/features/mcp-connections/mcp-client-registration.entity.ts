import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** Gatehouse as a client that an authorization server has registered. One of each integration. */
export const McpClientRegistration = defineEntity({
  name: 'McpClientRegistration',
  tableName: 'mcp_client_registrations',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    /** It counts for this authorization server alone. */
    issuer: p.string().length(2048),
    redirectUri: p.string().length(2048),
    /** As sealed JSON. */
    contents: p.blob(),
    createdAt: createdAt(),
  },
})

export type McpClientRegistration = InferEntity<typeof McpClientRegistration>
