import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A rating of the answers of one trace. */
export const Feedback = defineEntity({
  name: 'Feedback',
  tableName: 'feedbacks',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    traceId: p.text(),
    value: p.integer(),
    weight: p.double().default(1),
    metadata: p.json<Readonly<Record<string, unknown>>>().default('{}'),
    apiKeyId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Feedback = InferEntity<typeof Feedback>
