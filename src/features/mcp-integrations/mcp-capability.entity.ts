import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Fields } from '../../lib/json/fields.ts'
import { capabilityKinds } from '../../lib/mcp-definition.ts'

/** A tool, prompt, resource or template that a server was seen to offer. Syncs write it by SQL: the trail has no room for definitions. */
export const McpCapability = defineEntity({
  name: 'McpCapability',
  tableName: 'mcp_capabilities',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    type: p.enum(capabilityKinds),
    /** Of a resource its URI, of a template its URI template. */
    name: p.text(),
    enabled: p.boolean().default(true),
    definition: p.json<Fields>(),
    hash: p.text(),
    inputHash: p.text(),
    /** About its size in the context of a model. */
    tokens: p.integer().default(0),
    isRemoved: p.boolean().default(false),
    firstSeenAt: p.datetime(),
    changedAt: p.datetime(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpCapability = InferEntity<typeof McpCapability>

/** A definition that a capability had. */
export const McpCapabilityVersion = defineEntity({
  name: 'McpCapabilityVersion',
  tableName: 'mcp_capability_versions',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    capabilityId: p.uuid(),
    definition: p.json<Fields>(),
    hash: p.text(),
    seenAt: p.datetime(),
  },
})

export type McpCapabilityVersion = InferEntity<typeof McpCapabilityVersion>
