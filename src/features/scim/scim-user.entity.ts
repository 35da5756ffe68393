import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Document } from './schema/normalise.ts'

/** The facts about a user that only the identity provider has. Its id is that of the user. */
export const ScimUser = defineEntity({
  name: 'ScimUser',
  tableName: 'scim_users',
  filters: { tenant: tenantFilter },
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userName: p.string().length(320),
    externalId: p.text().nullable(),
    /** The attributes of RFC 7643 that no column holds, under its names. */
    attributes: p.json<Document>().default('{}'),
    /** The role in the organisation that groups have given; null: none. */
    givenRole: p.text().$type<'owner' | 'admin'>().nullable(),
    version: p.integer().default(1),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ScimUser = InferEntity<typeof ScimUser>
