import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** The kinds of secrets, by their names in `oidc-provider`; an interaction is a request that waits for its person. */
export const secretKinds = ['Interaction', 'AuthorizationCode', 'AccessToken', 'RefreshToken'] as const

export type SecretKind = (typeof secretKinds)[number]

/** A code, a token, or an open request. Only a keyed hash of it is stored, and its contents are sealed. */
export const McpSignInSecret = defineEntity({
  name: 'McpSignInSecret',
  tableName: 'mcp_sign_in_secrets',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: its person has not decided yet. */
    signInId: p.uuid().nullable(),
    userId: p.uuid(),
    kind: p.enum(secretKinds),
    keyHash: p.blob(),
    contents: p.blob(),
    /** Null: it was not used. */
    consumedAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    createdAt: createdAt(),
  },
})

export type McpSignInSecret = InferEntity<typeof McpSignInSecret>

/** The place where the contents of a secret are sealed. */
export const contentsPlace = ({ id: rowId, organisationId }: Pick<McpSignInSecret, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'mcp_sign_in_secrets',
  column: 'contents',
  rowId,
})
