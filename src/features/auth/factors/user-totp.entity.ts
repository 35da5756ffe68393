import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../../app/database/columns.ts'
import { tenantFilter } from '../../../app/database/orm.ts'
import type { Place } from '../../../app/secrets/vault.ts'

/** The authenticator app of a person: the secret that it shares with us, sealed. */
export const UserTotp = defineEntity({
  name: 'UserTotp',
  tableName: 'user_totps',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    secret: p.blob(),
    /** Null: the person has not shown a code yet, and signs in without one. */
    confirmedAt: p.datetime().nullable(),
    /** The latest time step that was accepted. */
    lastStep: p.integer().default(0),
    createdAt: createdAt(),
  },
})

export type UserTotp = InferEntity<typeof UserTotp>

/** The place where the secret is sealed. */
export const totpPlace = ({ id: rowId, organisationId }: Pick<UserTotp, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'user_totps',
  column: 'secret',
  rowId,
})
