import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { OrganisationRole } from '../../lib/access/roles.ts'

/** A person in an organisation. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** The address in lower case. */
    email: p.string().length(320),
    firstName: p.string().length(255).nullable(),
    lastName: p.string().length(255).nullable(),
    role: p.text().$type<OrganisationRole>(),
    status: status('active', 'archived'),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type User = InferEntity<typeof User>
