import { feature } from '../../app/feature.ts'
import { pruneScimActivity } from './prune-activity.jobs.ts'
import { scimProtocol } from './protocol.ts'
import { ScimActivity } from './scim-activity.entity.ts'
import { listScimActivity } from './scim-activity.routes.ts'
import { ScimGroup } from './scim-group.entity.ts'
import { ScimToken } from './scim-token.entity.ts'
import { createScimToken, deleteScimToken, listScimTokens, rotateScimToken } from './scim-tokens.routes.ts'
import { ScimUser } from './scim-user.entity.ts'
import { settleScimPlaces } from './settle.jobs.ts'
import { ScimWorkspaceGroup } from './workspace-group.entity.ts'
import { createScimMapping, deleteScimMapping, listGroupsOfProvider, listScimMappings } from './workspace-groups.routes.ts'

export { rolesInName } from './group-name.ts'
export { hold } from './hold.ts'
export { settlePlaces } from './places.ts'
export { adopt } from './resources/user-write.ts'

/** Users and groups that an identity provider writes by SCIM 2.0. */
export const scim = feature({
  id: 'scim',
  since: '1.3.0',
  // Roles in any case; queries are read strictly.
  changes: ['1.6.1', '1.7.1'],
  flag: 'SCIM_ENABLED',
  requires: ['users'],
  permissions: ['organisation_settings.read', 'organisation_settings.update'],
  entities: [ScimToken, ScimUser, ScimGroup, ScimActivity],
  routes: [createScimToken, listScimTokens, rotateScimToken, deleteScimToken, listScimActivity],
  protocols: [scimProtocol],
  jobs: [pruneScimActivity],
})

/** Groups that give their members roles in workspaces and in the organisation. */
export const scimGroupMapping = feature({
  id: 'scim-group-mapping',
  since: '1.6.0',
  flag: 'SCIM_ENABLED',
  requires: ['scim'],
  permissions: ['organisation_settings.read', 'organisation_settings.update'],
  entities: [ScimWorkspaceGroup],
  routes: [listGroupsOfProvider, listScimMappings, createScimMapping, deleteScimMapping],
  jobs: [settleScimPlaces],
})

/** Users say which groups they are in: SCIM_MEMBERSHIP_USER_MODE. */
export const scimUserMembership = feature({
  id: 'scim-user-membership',
  since: '1.10.0',
  flag: 'SCIM_ENABLED',
  requires: ['scim'],
  permissions: [],
  entities: [],
  routes: [],
})
