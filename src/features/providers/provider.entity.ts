import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, since, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { SetterRanks } from '../../lib/access/set-from-above.ts'
import type { RateLimit, UsageLimits } from '../limits/index.ts'

/** A workspace's handle on an integration, which a request names as `@slug`, or as a virtual key. */
export const ProviderEntity = defineEntity({
  name: 'Provider',
  tableName: 'providers',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    integrationId: p.uuid(),
    kind: p.text().$type<'provider' | 'virtual-key'>().default('provider'),
    /** Made together with its integration, and archived with it. */
    isDefault: p.boolean().default(false),
    slug: p.string().length(255),
    name: p.string().length(255),
    note: p.text().nullable(),
    status: status('active', 'exhausted', 'expired', 'archived'),
    usageLimits: p.json<UsageLimits>().nullable(),
    usageResetAt: p.datetime().nullable(),
    rateLimits: p.json<readonly RateLimit[]>().nullable(),
    expiresAt: p.datetime().nullable(),
    tags: since('1.7.3', p.json<Readonly<Record<string, string>>>().default('{}')),
    createdBy: p.uuid().nullable(),
    setterRanks: p.json<SetterRanks>().default('{}'),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ProviderEntity = InferEntity<typeof ProviderEntity>
