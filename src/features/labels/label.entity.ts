import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A name for one version of each prompt: `prompt@staging`. */
export const Label = defineEntity({
  name: 'Label',
  tableName: 'labels',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: it serves in every workspace of the organisation. */
    workspaceId: p.uuid().nullable(),
    name: p.string().length(255),
    description: p.text().nullable(),
    colorCode: p.string().length(32).nullable(),
    /** Made with the organisation by the database itself; it stays. */
    isBuiltIn: p.boolean().default(false),
    status: status('active', 'archived'),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Label = InferEntity<typeof Label>
