import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { RateLimit, UsageLimits } from '../limits/index.ts'

/** The access of a workspace to an integration of the organisation; overrides the integration's global access. */
export const IntegrationWorkspace = defineEntity({
  name: 'IntegrationWorkspace',
  tableName: 'integration_workspaces',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    workspaceId: p.uuid(),
    enabled: p.boolean().default(true),
    usageLimits: p.json<readonly UsageLimits[]>().nullable(),
    rateLimits: p.json<readonly RateLimit[]>().nullable(),
    /** The time before which usage does not count against the limits. */
    usageResetAt: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type IntegrationWorkspace = InferEntity<typeof IntegrationWorkspace>
