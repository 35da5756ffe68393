import { feature } from '../../app/feature.ts'
import { keyScopes } from '../api-keys/index.ts'
import { listScopes, listSettings, readKeyRights, readUserRights } from './rights.routes.ts'

/** The rights of people and keys with their reasons, and the catalogues of scopes and settings. */
export const rights = feature({
  id: 'rights',
  since: '1.3.0',
  requires: ['users', 'api-keys'],
  permissions: [
    'organisation_users.read',
    'workspace_users.read',
    'organisation_settings.read',
    'workspaces.read',
    'workspaces.list',
    ...keyScopes('read'),
    ...keyScopes('list'),
  ],
  entities: [],
  routes: [readUserRights, readKeyRights, listScopes, listSettings],
})
