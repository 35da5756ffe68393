import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** A gateway config under a slug; its content is that of the version it names. */
export const ConfigEntity = defineEntity({
  name: 'Config',
  tableName: 'configs',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    /** True if keys of the workspace without a config of their own use this one. */
    isDefault: p.boolean().default(false),
    status: status('active', 'archived'),
    versionId: p.uuid(),
    guardrailReferences: p.array().default([]),
    /** Partners whose stored credentials its checks use. */
    pluginReferences: p.array().default([]),
    /** Slugs of stored providers as the current version names them. */
    providerReferences: p.array().default([]),
    ownerId: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ConfigEntity = InferEntity<typeof ConfigEntity>

/** One state of a config; never changed. */
export const ConfigVersion = defineEntity({
  name: 'ConfigVersion',
  tableName: 'config_versions',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    configId: p.uuid(),
    /** Counted from 1. */
    version: p.integer(),
    config: p.blob(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
  },
})

export type ConfigVersion = InferEntity<typeof ConfigVersion>

/** The place where a version's config is sealed. */
export const configPlace = ({ id: rowId, organisationId }: Pick<ConfigVersion, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'config_versions',
  column: 'config',
  rowId,
})
