import { feature } from '../../app/feature.ts'
import { forgetBatches, settleBatches } from './batches.jobs.ts'
import { recomputeCosts } from './costs.routes.ts'
import { settleBefore } from './settle-before.ts'

/** Costs that are computed again with other price lists, and those of batches, which come when they have ended. `logs` shows the results. */
export const costs = feature({
  id: 'costs',
  since: '1.3.0',
  requires: ['logs', 'providers'],
  permissions: ['organisation_settings.update'],
  entities: [],
  routes: [recomputeCosts],
  jobs: [settleBatches, forgetBatches],
  settleBefore,
})
