import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** A link that serves once. Only a keyed hash of its secret is stored; a link that was used has no row. */
export const OneTimeLink = defineEntity({
  name: 'OneTimeLink',
  tableName: 'one_time_links',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: the holder of the link becomes the first owner of the organisation. */
    userId: p.uuid().nullable(),
    /** `setup` makes an owner, `password` sets the password of a person. */
    purpose: p.text().$type<'setup' | 'password'>(),
    tokenHash: p.blob(),
    expiresAt: p.datetime(),
    createdAt: createdAt(),
  },
})

export type OneTimeLink = InferEntity<typeof OneTimeLink>
