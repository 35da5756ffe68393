import { feature } from '../../app/feature.ts'
import { listEntities, listRateEntities, resetEntity } from './policy-entities.routes.ts'

/** The counts of policies. */
export const policyEntities = feature({
  id: 'policy-entities',
  since: '1.7.0',
  flag: 'POLICY_ENABLED',
  requires: ['policies'],
  permissions: ['policies.read', 'policies.update'],
  entities: [],
  routes: [listEntities, listRateEntities, resetEntity],
})
