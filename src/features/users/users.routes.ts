import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { camelCasePages, searching, toList } from '../../lib/paging.ts'
import { demandRank } from '../workspaces/index.ts'
import { UserIdentity } from './user-identity.entity.ts'
import { User } from './user.entity.ts'
import { updateUserBody, userFilter, userList, userParams, userView, sorts } from './user.schema.ts'
import { archiveUser, demandMayChange, findUser, presentUsers, rankedRole } from './users.ts'

const resource = 'user'
const empty = z.object({})

export const listUsers = route({
  method: 'GET',
  path: '/admin/users',
  summary: 'List the users of the organisation',
  permission: 'organisation_users.list',
  aliases: camelCasePages,
  query: userFilter,
  response: userList,
})(async ({ em, actor, query }) => {
  const { role, email, status } = query
  const where = {
    organisationId: actor.organisationId,
    status,
    ...(role !== undefined && { role }),
    ...(email !== undefined && { email }),
    ...searching(query.search, 'email', 'firstName', 'lastName'),
  }
  const page = await findPage(em, User, { where, query, sorts })
  return toList(await presentUsers(em, page.rows), page)
})

export const readUser = route({
  method: 'GET',
  path: '/admin/users/:userId',
  summary: 'Read a user',
  permission: 'organisation_users.read',
  params: userParams,
  response: userView,
})(async ({ em, actor, params }) => {
  const user = await findUser(em, actor, { id: params.userId })
  const [view] = await presentUsers(em, [user])
  if (view === undefined) throw new Error('a user was presented as none')
  return view
})

export const updateUser = route({
  method: 'PUT',
  path: '/admin/users/:userId',
  summary: 'Change a user',
  permission: 'organisation_users.update',
  resource,
  params: userParams,
  body: updateUserBody,
  response: empty,
})(async ({ em, actor, params, body, audit }) => {
  const user = await findUser(em, actor, { id: params.userId, lock: true })
  demandRank(actor, rankedRole(user.role), 'userId')
  if (body.role !== undefined) {
    demandMayChange(actor, user)
    demandRank(actor, rankedRole(body.role), 'role')
  }
  if (body.token_identities === null) em.remove(await em.find(UserIdentity, { userId: user.id, byToken: true }))
  assignDefined(user, { role: body.role, firstName: body.first_name, lastName: body.last_name })
  audit({ id: user.id })
  return {}
})

export const deleteUser = route({
  method: 'DELETE',
  path: '/admin/users/:userId',
  summary: 'Remove a user, with their memberships and their API keys',
  permission: 'organisation_users.delete',
  resource,
  params: userParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const user = await findUser(em, actor, { id: params.userId, lock: true })
  demandMayChange(actor, user)
  await archiveUser(em, user)
  audit({ id: user.id })
  return {}
})
