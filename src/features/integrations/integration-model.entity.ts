import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { ModelConfigurations, PricingConfig } from './models.schema.ts'

/** One model of an integration: its permission, its kind, its price. */
export const IntegrationModel = defineEntity({
  name: 'IntegrationModel',
  tableName: 'integration_models',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    /** The model as requests name it. */
    slug: p.string().length(255),
    name: p.string().length(255).nullable(),
    enabled: p.boolean(),
    isCustom: p.boolean().default(false),
    isFinetune: p.boolean().default(false),
    baseModelSlug: p.string().length(255).nullable(),
    configurations: p.json<ModelConfigurations>().default('{}'),
    pricingConfig: p.json<PricingConfig>().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type IntegrationModel = InferEntity<typeof IntegrationModel>
