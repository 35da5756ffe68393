import { feature } from '../../app/feature.ts'
import { listLayers, readAbilities, readPricing } from './model-configs.routes.ts'
import { listOffered } from './offered-models.routes.ts'

/** Prices and abilities of models, and the lists that they come from. */
export const modelConfigs = feature({
  id: 'model-catalog',
  since: '1.3.0',
  changes: ['1.11.0'],
  requires: ['workspaces'],
  permissions: ['providers.list'],
  entities: [],
  routes: [readPricing, readAbilities, listLayers, listOffered],
})
