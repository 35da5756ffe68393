import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A filter of logs or analytics under a name. */
export const SavedFilter = defineEntity({
  name: 'SavedFilter',
  tableName: 'saved_filters',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    type: p.text().$type<'logs' | 'analytics'>(),
    filters: p.json<Readonly<Record<string, unknown>>>(),
    status: status('active', 'archived'),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type SavedFilter = InferEntity<typeof SavedFilter>
