import { feature } from '../../app/feature.ts'
import { dropExpiredAnswers, trimAnswers } from './cache.jobs.ts'
import { purgeCache } from './cache.routes.ts'

/** Answers that the gateway gives again, as configs ask: deleting them. `gateway/cache` gives them. */
export const cache = feature({
  id: 'cache',
  since: '1.3.0',
  requires: ['workspaces', 'configs'],
  permissions: ['configs.update'],
  entities: [],
  routes: [purgeCache],
  jobs: [dropExpiredAnswers, trimAnswers],
})
