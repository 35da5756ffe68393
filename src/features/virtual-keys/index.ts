import { feature } from '../../app/feature.ts'
import { createVirtualKey, deleteVirtualKey, listVirtualKeys, readVirtualKey, updateVirtualKey } from './virtual-keys.routes.ts'

/** The older surface over the same tables: a provider with an integration of its own. */
export const virtualKeys = feature({
  id: 'virtual-keys',
  since: '1.3.0',
  requires: ['providers'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `virtual_keys.${verb}`),
  entities: [],
  routes: [createVirtualKey, listVirtualKeys, readVirtualKey, updateVirtualKey, deleteVirtualKey],
})
