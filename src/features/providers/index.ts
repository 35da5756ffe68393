import { feature } from '../../app/feature.ts'
import { ProviderEntity } from './provider.entity.ts'
import { createProvider, deleteProvider, listProviders, readProvider, updateProvider } from './providers.routes.ts'
import { providerListView } from './provider-list.view.ts'
import { providerView } from './provider.view.ts'
import { loadCredential } from '../integrations/index.ts'

export { inWorkspace, providerFields, providerFilter, providerParams, providerRead, providerViewFields } from './provider.schema.ts'
export { readTerms, type StoredTerms, storedTerms, termsColumns, toleranceMs } from './terms.ts'
export { createProvider }
export { boundsOf, changeProvider, findStoredProvider, presentShared } from './providers.ts'

/** Providers give a workspace the use of integrations; requests name them as `@slug`. */
export const providers = feature({
  id: 'providers',
  since: '1.3.0',
  // Bounds of slugs and names.
  changes: ['1.3.2'],
  requires: ['integrations'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `providers.${verb}`),
  entities: [ProviderEntity],
  routes: [createProvider, listProviders, readProvider, updateProvider, deleteProvider],
  views: { provider: providerView(loadCredential), providers: providerListView },
})
