import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The password of a person, as an argon2id hash. */
export const UserPassword = defineEntity({
  name: 'UserPassword',
  tableName: 'user_passwords',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    passwordHash: p.text(),
    changedAt: p.datetime(),
  },
})

export type UserPassword = InferEntity<typeof UserPassword>
