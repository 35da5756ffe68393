import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { decimalAmount } from '../../app/database/amount.ts'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

export const accesses = ['allow', 'deny'] as const
export const discoveries = ['full', 'search'] as const
export const pinnings = ['off', 'flag', 'hold'] as const

/** A workspace's handle on an MCP integration, with the rights of its callers. */
export const McpServerEntity = defineEntity({
  name: 'McpServer',
  tableName: 'mcp_servers',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    integrationId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    status: status('active', 'archived'),
    /** For tools, prompts and resources that no row names. */
    defaultAccess: p.enum(accesses).default('deny'),
    /** For users that no row names. */
    defaultUserAccess: p.enum(accesses).default('allow'),
    pinning: p.enum(pinnings).default('flag'),
    discovery: p.enum(discoveries).default('full'),
    /** For tools without a price of their own; null: they are free. */
    toolPrice: decimalAmount('tool_price').nullable(),
    /** Slugs or ids. */
    inputGuardrails: p.array().default([]),
    outputGuardrails: p.array().default([]),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpServerEntity = InferEntity<typeof McpServerEntity>
