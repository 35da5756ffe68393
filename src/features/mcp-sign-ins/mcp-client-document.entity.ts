import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The metadata document of a program, as an organisation fetched it last. */
export const McpClientDocument = defineEntity({
  name: 'McpClientDocument',
  tableName: 'mcp_client_documents',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    clientId: p.string().length(2048),
    document: p.text(),
    fetchedAt: p.datetime(),
    freshUntil: p.datetime(),
  },
})

export type McpClientDocument = InferEntity<typeof McpClientDocument>
