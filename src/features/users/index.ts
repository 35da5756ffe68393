import { feature } from '../../app/feature.ts'
import { Invite } from './invite.entity.ts'
import { acceptInvitation, cancelInvite, createInvite, listInvites, readInvite, resendInvite } from './invites.routes.ts'
import { UserIdentity } from './user-identity.entity.ts'
import { User } from './user.entity.ts'
import { deleteUser, listUsers, readUser, updateUser } from './users.routes.ts'

export { acceptByAddress } from './accept.ts'
export { lockAddress } from './invites.ts'
export { emailField, userParams } from './user.schema.ts'
export { archiveUser, findUser, rankedRole } from './users.ts'
export { createFirstOwner, firstOwner } from './first-owner.ts'
export { findByIdentity, linkIdentity, type Identity } from './identities.ts'

/** The people of an organisation. */
export const users = feature({
  id: 'users',
  since: '1.3.0',
  requires: ['workspaces', 'api-keys'],
  permissions: (['create', 'read', 'update', 'delete', 'list'] as const).map((verb) => `organisation_users.${verb}`),
  entities: [User, UserIdentity, Invite],
  // The invitations come before `/:userId`, which has the same shape.
  routes: [
    createInvite,
    acceptInvitation,
    listInvites,
    readInvite,
    cancelInvite,
    resendInvite,
    listUsers,
    readUser,
    updateUser,
    deleteUser,
  ],
})

/** The mails to users, from templates that an operator may replace (src/app/mail). */
export const emailTemplates = feature({
  id: 'email-templates',
  since: '1.4.0',
  requires: ['users'],
  permissions: [],
  entities: [],
  routes: [],
})
