import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** How a person signed in. */
export type SignInMethod = 'password' | 'passkey' | 'link' | 'oidc' | 'saml'

/** The session of a person in a browser. Only a keyed hash of its secret is stored. A session that ended has no row. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    tokenHash: p.blob(),
    /** The secret before it was renewed; valid until `previousUntil`. */
    previousTokenHash: p.blob().nullable(),
    previousUntil: p.datetime().nullable(),
    /** Digest of the roles of the person when the secret was made (see `rightsOf`). */
    rights: p.blob(),
    method: p.text().$type<SignInMethod>(),
    /** The issuer of the identity provider; null for a local sign-in. */
    issuer: p.string().length(320).nullable(),
    subject: p.string().length(320).nullable(),
    providerSession: p.string().length(320).nullable(),
    /** Sealed: the ID token with which it began; null: there was none. */
    providerToken: p.blob().nullable(),
    clientAddress: p.text(),
    userAgent: p.string().length(500).nullable(),
    lastUsedAt: p.datetime(),
    /** The latest end. */
    expiresAt: p.datetime(),
    createdAt: createdAt(),
  },
})

export type Session = InferEntity<typeof Session>

/** The place where the ID token of a session is sealed. */
export const providerTokenPlace = ({ id: rowId, organisationId }: Pick<Session, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'sessions',
  column: 'provider_token',
  rowId,
})
