import { feature } from '../../app/feature.ts'
import { createMembers, deleteMember, listMembers, readMember, updateMember } from './members.routes.ts'
import { WorkspaceMember } from './workspace-member.entity.ts'
import { Workspace } from './workspace.entity.ts'
import { workspaceRoutes } from './workspaces.routes.ts'

export { demandRank, demandScope, findEvenArchived, findWorkspace, findWorkspaces, resolveWorkspace, workspaceFilter } from './access.ts'
export { removeMember } from './members.ts'
export { addWorkspace } from './workspaces.ts'
export { demandOwnOrganisation, visibleTo } from './visible-to.ts'

const verbs = ['create', 'read', 'update', 'delete', 'list'] as const

/** The parts of an organisation, and their members. */
export const workspaces = feature({
  id: 'workspaces',
  since: '1.3.0',
  // The links of a deleted one to integrations go; lists by status.
  changes: ['1.5.1', '1.11.2'],
  requires: ['organisations'],
  permissions: verbs.flatMap((verb) => [`workspaces.${verb}`, `workspace_users.${verb}`]),
  entities: [Workspace, WorkspaceMember],
  routes: [...workspaceRoutes, listMembers, createMembers, readMember, updateMember, deleteMember],
})
