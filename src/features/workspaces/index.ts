import { feature } from '../../app/feature.ts'
import { Workspace } from './workspace.entity.ts'
import { workspaceRoutes } from './workspaces.routes.ts'

export { demandScope, resolveWorkspace, workspaceFilter } from './access.ts'
export { demandOwnOrganisation, visibleTo } from './visible-to.ts'

/** The parts of an organisation. */
export const workspaces = feature({
  id: 'workspaces',
  since: '1.3.0',
  requires: ['organisations'],
  permissions: ['workspaces.list', 'workspaces.read'],
  entities: [Workspace],
  routes: workspaceRoutes,
})
