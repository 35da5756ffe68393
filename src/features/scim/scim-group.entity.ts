import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { WorkspaceRole } from '../../lib/access/roles.ts'

/** A group of users, as the identity provider writes it. Its members are in a table that SQL alone reads and writes. */
export const ScimGroup = defineEntity({
  name: 'ScimGroup',
  tableName: 'scim_groups',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    displayName: p.string().length(255),
    externalId: p.text().nullable(),
    /** With `namedRole`: the workspace and the role there that its name states; null: it states none. */
    namedWorkspace: p.text().nullable(),
    namedRole: p.text().$type<WorkspaceRole>().nullable(),
    /** The role in the organisation that its name states; null: it states none. */
    organisationRole: p.text().$type<'owner' | 'admin'>().nullable(),
    version: p.integer().default(1),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ScimGroup = InferEntity<typeof ScimGroup>
