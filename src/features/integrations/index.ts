import { feature } from '../../app/feature.ts'
import { integrationScopes } from './access.ts'
import { listCatalogue } from './catalogue.routes.ts'
import { listGrants, putGrants } from './grants.routes.ts'
import { IntegrationModel } from './integration-model.entity.ts'
import { IntegrationWorkspace } from './integration-workspace.entity.ts'
import { Integration } from './integration.entity.ts'
import { createIntegration, deleteIntegration, listIntegrations, readIntegration, updateIntegration } from './integrations.routes.ts'
import { listModels, putModels, removeModels } from './models.routes.ts'
import { testIntegration, testNewIntegration } from './trial.routes.ts'

export { findIntegration, grantedBy } from './access.ts'
export { catalogueRow, parseConfigurations, type Configurations } from './configurations.ts'
export type { PricingConfig } from './models.schema.ts'
export { loadCredential, type SealedCredential, type StoredCredential, storedTarget } from './credential.ts'
export { demandAccess } from './grants.ts'
export { addProvider, settersOf, type ProviderFields } from './provider-rows.ts'
export { configurationsField, configurationsView, providerKey } from './integration.schema.ts'
export { demandUnused, providerDependants } from './provider-dependants.ts'
export { createIntegration, putModels, updateIntegration }
export { addIntegration, archiveIntegration, changeCredential } from './integrations.ts'

/** Provider accounts: credentials, and how to reach the provider. */
export const integrations = feature({
  id: 'integrations',
  since: '1.3.0',
  changes: ['1.3.2', '1.10.0', '1.11.1', '1.11.2'],
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list'] as const).flatMap(integrationScopes),
  entities: [Integration, IntegrationModel, IntegrationWorkspace],
  routes: [
    listCatalogue,
    testNewIntegration,
    testIntegration,
    createIntegration,
    listIntegrations,
    readIntegration,
    updateIntegration,
    deleteIntegration,
    listModels,
    putModels,
    removeModels,
    listGrants,
    putGrants,
  ],
})

/** Names and values on integrations and providers, by which lists are filtered. */
export const tags = feature({ id: 'tags', since: '1.7.3', requires: ['integrations'], permissions: [], entities: [], routes: [] })
