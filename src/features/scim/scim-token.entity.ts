import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Role } from '../../lib/access/roles.ts'

/** The credential of an identity provider that writes people and groups into one organisation. Only a keyed hash of it is stored. */
export const ScimToken = defineEntity({
  name: 'ScimToken',
  tableName: 'scim_tokens',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    name: p.string().length(255),
    status: status('active', 'archived'),
    /** Null: the token is revoked. */
    tokenHash: p.blob().nullable(),
    tokenHint: p.string().length(32),
    /** The token before it was rotated; valid until `previousTokenExpiresAt`. */
    previousTokenHash: p.blob().nullable(),
    previousTokenExpiresAt: p.datetime().nullable(),
    /** Null: never. */
    expiresAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
    /** The rank of the caller who made it or rotated it last; null: as an admin of the organisation. */
    rank: p.text().$type<Role>().nullable(),
    /** The person above whose present role it never ranks; null: none is known. */
    makerId: p.uuid().nullable(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ScimToken = InferEntity<typeof ScimToken>
