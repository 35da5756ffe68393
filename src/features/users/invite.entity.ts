import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { WorkspaceRole } from '../../lib/access/roles.ts'

/** A workspace that an invitation leads to. */
export interface InvitedWorkspace {
  readonly id: string
  readonly role: WorkspaceRole
}

/** An invitation into an organisation. Only a keyed hash of the secret in its link is stored. */
export const Invite = defineEntity({
  name: 'Invite',
  tableName: 'invites',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    email: p.string().length(320),
    role: p.text().$type<'admin' | 'member'>(),
    workspaces: p.json<readonly InvitedWorkspace[]>().default('[]'),
    /** The scopes of the key that the accepting person gets in each workspace; null: no key. */
    apiKeyScopes: p.array().nullable(),
    status: status('pending', 'cancelled', 'accepted'),
    tokenHash: p.blob(),
    invitedBy: p.uuid().nullable(),
    /** The person at whose word it was made: it gives no role above theirs; null: none is known. */
    makerId: p.uuid().nullable(),
    /** The user who accepted. */
    userId: p.uuid().nullable(),
    expiresAt: p.datetime(),
    acceptedAt: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Invite = InferEntity<typeof Invite>
