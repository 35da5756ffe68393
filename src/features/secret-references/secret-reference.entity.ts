import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'
import { managerTypes } from '../../gateway/ports/secrets.ts'

/** A secret in an external manager: where it is, and how one signs in there. */
export const SecretReference = defineEntity({
  name: 'SecretReference',
  tableName: 'secret_references',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    managerType: p.enum(managerTypes),
    status: status('active', 'archived'),
    /** Sealed; erased when the row is archived. */
    authConfig: p.blob().nullable(),
    secretPath: p.string().length(1024),
    secretKey: p.string().length(255).nullable(),
    secretVersion: p.string().length(255).nullable(),
    allowAllWorkspaces: p.boolean().default(true),
    /** Ids; they count when not all are allowed. */
    allowedWorkspaces: p.array().columnType('_uuid').default([]),
    /** The workspace that made it; null: the organisation. */
    ownerWorkspaceId: p.uuid().nullable(),
    tags: p.json<Readonly<Record<string, string>>>().default('{}'),
    createdBy: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type SecretReference = InferEntity<typeof SecretReference>

/** The place where the sign-in of a reference is sealed. */
export const authPlace = ({ id: rowId, organisationId }: Pick<SecretReference, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'secret_references',
  column: 'auth_config',
  rowId,
})
