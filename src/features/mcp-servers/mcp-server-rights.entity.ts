import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { decimalAmount } from '../../app/database/amount.ts'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Fields } from '../../lib/json/fields.ts'
import { capabilityKinds } from '../../lib/mcp-definition.ts'

/** The right of a workspace's callers on one capability of a server, and the definition that was approved. */
export const McpServerCapability = defineEntity({
  name: 'McpServerCapability',
  tableName: 'mcp_server_capabilities',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    serverId: p.uuid(),
    type: p.enum(capabilityKinds),
    name: p.text(),
    /** Null: by the default of the server. */
    enabled: p.boolean().nullable(),
    /** For one call of the tool; null: that of the server. */
    price: decimalAmount('price').nullable(),
    pinnedHash: p.text().nullable(),
    pinnedInputHash: p.text().nullable(),
    pinnedDefinition: p.json<Fields>().nullable(),
    rejectedHash: p.text().nullable(),
    /** The last definition that was in an event. */
    toldHash: p.text().nullable(),
    decidedBy: p.uuid().nullable(),
    decidedAt: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpServerCapability = InferEntity<typeof McpServerCapability>

/** The access of one user to a server. */
export const McpServerUser = defineEntity({
  name: 'McpServerUser',
  tableName: 'mcp_server_users',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    serverId: p.uuid(),
    userId: p.uuid(),
    enabled: p.boolean(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpServerUser = InferEntity<typeof McpServerUser>
