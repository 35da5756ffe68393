import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { SetterRanks } from '../../lib/access/set-from-above.ts'
import type { RateLimit, UsageLimits } from '../limits/index.ts'

/** A team's or an application's part of an organisation. */
export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    /** The icon in lists, such as an emoji. */
    icon: p.string().length(64).nullable(),
    isDefault: p.boolean().default(false),
    status: status('active', 'archived'),
    defaults: p.json<Record<string, unknown>>().default('{}'),
    usageLimits: p.json<readonly UsageLimits[]>().default('[]'),
    usageResetAt: p.datetime().nullable(),
    rateLimits: p.json<readonly RateLimit[]>().default('[]'),
    logRetentionDays: p.integer().nullable(),
    accessOverrides: p.json<Record<string, unknown>>().default('{}'),
    setterRanks: p.json<SetterRanks>().default('{}'),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Workspace = InferEntity<typeof Workspace>
