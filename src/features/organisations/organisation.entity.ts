import { defineEntity, p, type InferEntity, type Opt } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Role } from '../../lib/access/roles.ts'

/** A tenant: everything else belongs to one. */
export const Organisation = defineEntity({
  name: 'Organisation',
  tableName: 'organisations',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    /** Its own id under the name by which every business table is scoped. */
    organisationId: p.uuid().generated('(id) stored').$type<Opt<string>>(),
    slug: p.string().length(255).unique(),
    name: p.string().length(255),
    status: status('active', 'archived'),
    settings: p.json<Record<string, unknown>>().default('{}'),
    defaults: p.json<Record<string, unknown>>().default('{}'),
    /** The rank of the caller who set `settings.jwt`: its tokens serve no person above; null: that of an admin of the organisation. */
    tokenIssuerRank: p.text().$type<Role>().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Organisation = InferEntity<typeof Organisation>
