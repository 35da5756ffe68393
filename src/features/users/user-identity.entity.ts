import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The identity of a user at an issuer of tokens: the claims `iss` and `sub`. */
export const UserIdentity = defineEntity({
  name: 'UserIdentity',
  tableName: 'user_identities',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    issuer: p.string().length(320),
    subject: p.string().length(320),
    /** True as long as only tokens have shown it. */
    byToken: p.boolean().default(false),
    createdAt: createdAt(),
  },
})

export type UserIdentity = InferEntity<typeof UserIdentity>
