import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A folder of a workspace's prompts and partials. */
export const Collection = defineEntity({
  name: 'Collection',
  tableName: 'collections',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    parentCollectionId: p.uuid().nullable(),
    slug: p.string().length(255),
    name: p.string().length(255),
    /** Made with the workspace by the database itself; it stays as long as the workspace does. */
    isDefault: p.boolean().default(false),
    status: status('active', 'archived'),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Collection = InferEntity<typeof Collection>
