import { feature } from '../../app/feature.ts'
import { explainRequest } from './explain.routes.ts'

export { readLoggedRequest } from './logged-request.ts'
export { requestHeaders } from './explain.schema.ts'

/** Explanations of the way of a request, which `gateway/explain` makes. */
export const explain = feature({
  id: 'explain',
  since: '1.3.0',
  requires: ['configs', 'logs'],
  permissions: ['configs.read'],
  entities: [],
  routes: [explainRequest],
})
