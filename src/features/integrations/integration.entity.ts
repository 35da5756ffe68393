import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, since, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { StoredMapping } from '../secret-references/index.ts'
import type { GlobalAccess } from './grants.schema.ts'

/** A provider account: the credential and how to reach the provider. */
export const Integration = defineEntity({
  name: 'Integration',
  tableName: 'integrations',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: the whole organisation's. */
    workspaceId: p.uuid().nullable(),
    /** A virtual key owns its integration; it is reached through the virtual key only. */
    kind: p.text().$type<'integration' | 'virtual-key'>().default('integration'),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    /** A row of `gateway/providers/catalog.ts`. */
    aiProviderId: p.text(),
    status: status('active', 'archived'),
    /** The provider key, sealed; read it with `loadCredential`. */
    credential: p.blob().nullable(),
    maskedKey: p.text().nullable(),
    /** The fields that are no secret. */
    configurations: p.json<Readonly<Record<string, unknown>>>().default('{}'),
    /** The secret fields of the configurations, as sealed JSON. */
    secretConfigurations: p.blob().nullable(),
    allowAllModels: p.boolean().default(true),
    globalWorkspaceAccess: p.json<GlobalAccess>().nullable(),
    pricingAdjustments: p.json<Readonly<Record<string, unknown>>>().nullable(),
    tags: since('1.7.3', p.json<Readonly<Record<string, string>>>().default('{}')),
    /** Fields of the credential whose values are secrets of external managers. */
    secretMappings: since('1.12.0', p.json<readonly StoredMapping[]>().default('[]')),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type Integration = InferEntity<typeof Integration>
