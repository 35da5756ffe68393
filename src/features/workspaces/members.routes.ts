import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { roleIn } from '../../lib/access/roles.ts'
import { toList } from '../../lib/paging.ts'
import { lockPeople } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { demandRank, findWorkspace } from './access.ts'
import { addMembersBody, memberFilter, memberList, memberParams, memberView, updateMemberBody, sorts } from './member.schema.ts'
import { addMembers, findMember, presentMembers, removeMember, withUsers } from './members.ts'
import { WorkspaceMember } from './workspace-member.entity.ts'
import { workspaceParams } from './workspace.schema.ts'

const resource = 'workspace-user'
const empty = z.object({})

export const listMembers = route({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/users',
  summary: 'List the members of a workspace',
  permission: 'workspace_users.list',
  params: workspaceParams,
  query: memberFilter,
  response: memberList,
})(async ({ em, actor, params, query }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId })
  const { role, email } = query
  const user = email === undefined ? null : await em.findOne(User, { email, status: 'active' })
  if (email !== undefined && user === null) return toList([], { total: 0, has_more: false, next_cursor: null })
  const where = { workspaceId: workspace.id, ...(role !== undefined && { role }), ...(user !== null && { userId: user.id }) }
  const page = await findPage(em, WorkspaceMember, { where, query, sorts })
  return toList(await presentMembers(em, workspace, await withUsers(em, page.rows)), page)
})

export const createMembers = route({
  method: 'POST',
  path: '/admin/workspaces/:workspaceId/users',
  summary: 'Add users of the organisation to a workspace',
  permission: 'workspace_users.create',
  resource,
  params: workspaceParams,
  body: addMembersBody,
  response: empty,
})(async ({ em, actor, params, body, audit }) => {
  // Ahead of the workspace, as the routes do that make keys for them.
  await lockPeople(
    em,
    body.users.map(({ id }) => id),
  )
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, lock: true })
  await addMembers(em, actor, { workspace, users: body.users })
  audit({ id: workspace.id, workspaceId: workspace.id })
  return {}
})

export const readMember = route({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  summary: 'Read a member of a workspace',
  permission: 'workspace_users.read',
  params: memberParams,
  response: memberView,
})(async ({ em, actor, params }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId })
  const member = await findMember(em, workspace, params.userId)
  const [view] = await presentMembers(em, workspace, [member])
  if (view === undefined) throw new Error('a member was presented as none')
  return view
})

export const updateMember = route({
  method: 'PUT',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  summary: 'Change the role of a member of a workspace',
  permission: 'workspace_users.update',
  resource,
  params: memberParams,
  body: updateMemberBody,
  response: empty,
})(async ({ em, actor, params, body, audit }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, lock: true })
  const { row } = await findMember(em, workspace, params.userId)
  demandRank(actor, row.role, 'userId')
  demandRank(actor, body.role, 'role')
  row.role = body.role
  audit({ id: row.id, workspaceId: workspace.id })
  return {}
})

export const deleteMember = route({
  method: 'DELETE',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  summary: 'Take a user out of a workspace; the API keys that they have there stop working',
  permission: 'workspace_users.delete',
  resource,
  params: memberParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, lock: true })
  const { row, user } = await findMember(em, workspace, params.userId)
  // It takes the person's keys, too.
  demandRank(actor, roleIn(user.role, row.role) ?? row.role, 'userId')
  await removeMember(em, row)
  audit({ id: row.id, workspaceId: workspace.id })
  return {}
})
