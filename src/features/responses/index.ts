import { feature } from '../../app/feature.ts'
import { deleteExpiredResponses, trimResponses } from './responses.jobs.ts'

/** Responses that the gateway keeps for providers that keep none: deleting old ones. `gateway/stored-responses` keeps and gives them. */
export const responses = feature({
  id: 'responses',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: [],
  entities: [],
  routes: [],
  jobs: [deleteExpiredResponses, trimResponses],
})
