import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** Credentials of a partner, for all checks that ask it. */
export const PluginEntity = defineEntity({
  name: 'Plugin',
  tableName: 'plugins',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: the organisation's, for every workspace that has none of its own. */
    workspaceId: p.uuid().nullable(),
    /** The partner: the text before the dot of its checks. */
    plugin: p.string().length(100),
    name: p.string().length(255),
    status: status('active', 'archived'),
    baseUrl: p.text().nullable(),
    /** Sealed; erased when the row is archived. */
    credentials: p.blob().nullable(),
    createdBy: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type PluginEntity = InferEntity<typeof PluginEntity>

/** The place where the credentials of a partner are sealed. */
export const pluginPlace = ({ id: rowId, organisationId }: Pick<PluginEntity, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'plugins',
  column: 'credentials',
  rowId,
})
