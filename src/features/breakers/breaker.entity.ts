import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A circuit breaker that is open; the gateway writes the rows. */
export const BreakerEntity = defineEntity({
  name: 'Breaker',
  tableName: 'breakers',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    /** Null: a config that a request brought. */
    config: p.string().length(255).nullable(),
    option: p.text(),
    provider: p.string().length(255).nullable(),
    openedAt: p.datetime(),
    until: p.datetime(),
  },
})

export type BreakerEntity = InferEntity<typeof BreakerEntity>
