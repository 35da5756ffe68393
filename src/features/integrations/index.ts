import { feature } from '../../app/feature.ts'
import { integrationScopes } from './access.ts'
import { loadCredential } from './credential.ts'
import { Integration } from './integration.entity.ts'
import { createIntegration, deleteIntegration, listIntegrations, readIntegration, updateIntegration } from './integrations.routes.ts'

export { findIntegration } from './access.ts'
export { catalogueRow, parseConfigurations, type Configurations } from './configurations.ts'
export { loadCredential, type SealedCredential, type StoredCredential } from './credential.ts'
export { addProvider, type ProviderFields } from './handles.ts'
export { configurationsField, providerKey, secretMappings } from './integration.schema.ts'
export { addIntegration, archiveIntegration, changeCredential } from './integrations.ts'

/** Provider accounts: credentials, and how to reach the provider. */
export const integrations = feature({
  id: 'integrations',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list'] as const).flatMap(integrationScopes),
  entities: [Integration],
  routes: [createIntegration, listIntegrations, readIntegration, updateIntegration, deleteIntegration],
  loadCredential,
})
