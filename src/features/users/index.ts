import { feature } from '../../app/feature.ts'
import { User } from './user.entity.ts'
import { deleteUser, listUsers, readUser, updateUser } from './users.routes.ts'

/** The people of an organisation. */
export const users = feature({
  id: 'users',
  since: '1.3.0',
  requires: ['workspaces', 'api-keys'],
  permissions: (['read', 'update', 'delete', 'list'] as const).map((verb) => `organisation_users.${verb}`),
  entities: [User],
  routes: [listUsers, readUser, updateUser, deleteUser],
})
