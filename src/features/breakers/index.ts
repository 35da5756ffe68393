import { feature } from '../../app/feature.ts'
import { BreakerEntity } from './breaker.entity.ts'
import { dropForgottenBreakers } from './breakers.jobs.ts'
import { listBreakers, resetBreaker } from './breakers.routes.ts'

/** Circuit breakers of configs: the open ones, and closing them. `gateway/routing` opens them. */
export const breakers = feature({
  id: 'breakers',
  since: '1.3.0',
  requires: ['workspaces', 'configs'],
  permissions: ['configs.list', 'configs.update'],
  entities: [BreakerEntity],
  routes: [listBreakers, resetBreaker],
  jobs: [dropForgottenBreakers],
})
