import { feature } from '../../app/feature.ts'
import { listLimits } from './limit-list.routes.ts'

/** All limits of an organisation in one list, with their usage. */
export const limitList = feature({
  id: 'limit-list',
  since: '1.3.0',
  requires: ['api-keys', 'providers', 'workspaces'],
  permissions: ['organisation_settings.read', 'workspaces.read'],
  entities: [],
  routes: [listLimits],
})
