import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

export const visibilities = ['workspace', 'private'] as const
export type Visibility = (typeof visibilities)[number]

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
    /** The columns of the table with the results; null: the usual ones. */
    columns: p.json<readonly string[]>().nullable(),
    sort: p.text().nullable(),
    visibility: p.text().$type<Visibility>().default('workspace'),
    /** The person who made it; null: a service key did. */
    ownerId: p.uuid().nullable(),
    status: status('active', 'archived'),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type SavedFilter = InferEntity<typeof SavedFilter>
