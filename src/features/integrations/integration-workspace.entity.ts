import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { RateLimit, UsageLimits } from '../limits/index.ts'

/** Whether a workspace may use an integration of the organisation; stands above the integration's global access. */
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
    /** What was used before it does not count against the limits. */
    usageResetAt: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type IntegrationWorkspace = InferEntity<typeof IntegrationWorkspace>
