import type { FilterQuery } from '@mikro-orm/core'
import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route, type Actor, type Call, type Route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isAtLeast } from '../../lib/access/roles.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { demandReactivation, withOwnUsage, withUsage } from '../limits/index.ts'
import { findWorkspace, visibleWorkspaces } from './access.ts'
import { archiveContents, demandEmpty, restoreIncidental } from './contents.ts'
import { addMembers, membersOf, presentMembers } from './members.ts'
import { presentWorkspace } from './present-workspace.ts'
import { Workspace } from './workspace.entity.ts'
import {
  createWorkspaceBody,
  deleteWorkspaceBody,
  updateWorkspaceBody,
  workspaceFilterQuery,
  workspaceList,
  workspaceParams,
  workspaceView,
  workspaceWithUsers,
} from './workspace.schema.ts'
import { addWorkspace, changeWorkspace, toNewMembers } from './workspaces.ts'

type Filter = z.output<typeof workspaceFilterQuery>

const resource = 'workspace'
const empty = z.object({})

const list = (path: `/${string}`): Route =>
  route({
    method: 'GET',
    path,
    summary: 'List workspaces',
    permission: 'workspaces.list',
    query: workspaceFilterQuery,
    response: workspaceList,
  })(listWorkspaces)

const read = (path: `/${string}`): Route =>
  route({
    method: 'GET',
    path,
    summary: 'Read a workspace by id or slug',
    permission: 'workspaces.read',
    params: workspaceParams,
    response: workspaceWithUsers,
  })(readWorkspace)

const createWorkspace = route({
  method: 'POST',
  path: '/admin/workspaces',
  summary: 'Create a workspace',
  permission: 'workspaces.create',
  audience: 'organisation',
  resource,
  body: createWorkspaceBody,
  response: workspaceView,
})(async ({ em, actor, deps, body, audit }) => {
  const { users, ...wanted } = body
  const workspace = await addWorkspace(em, { actor, vault: deps.vault, config: deps.config }, wanted)
  await addMembers(em, actor, { workspace, users: await toNewMembers(em, actor, users ?? []) })
  audit({ id: workspace.id, workspaceId: workspace.id })
  return presentWorkspace(workspace)
})

const updateWorkspace = route({
  method: 'PUT',
  path: '/admin/workspaces/:workspaceId',
  summary: 'Change a workspace',
  permission: 'workspaces.update',
  resource,
  params: workspaceParams,
  body: updateWorkspaceBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, lock: true })
  const { usage_limits: wanted, reset_usage: reset } = body
  await demandReactivation(em, deps.level, { kind: 'workspace', row: workspace, wanted, reset })
  await changeWorkspace(em, workspace, { body, actor, vault: deps.vault, config: deps.config })
  if (body.reset_usage === true) workspace.usageResetAt = new Date(deps.clock.now())
  audit({ id: workspace.id, workspaceId: workspace.id })
  return {}
})

const deleteWorkspace = route({
  method: 'DELETE',
  path: '/admin/workspaces/:workspaceId',
  summary: 'Archive a workspace; refused while something is in it, unless force_delete is set',
  permission: 'workspaces.delete',
  audience: 'organisation',
  resource,
  params: workspaceParams,
  body: deleteWorkspaceBody,
  response: empty,
})(async ({ em, actor, params, body, audit }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, lock: true })
  if (body.name !== undefined && body.name !== workspace.name)
    throw new ApiError('AB01', 'This is not the name of the workspace.', { param: 'name' })
  if (workspace.isDefault) throw new ApiError('AB07', 'The default workspace of an organisation stays.', { param: 'workspaceId' })
  if (!body.force_delete) await demandEmpty(em, workspace)
  await archiveContents(em, workspace)
  workspace.status = 'archived'
  audit({ id: workspace.id, workspaceId: workspace.id })
  return {}
})

const restoreWorkspace = route({
  method: 'POST',
  path: '/admin/workspaces/:workspaceId/restore',
  summary: 'Restore an archived workspace; resources that were deleted with it stay deleted',
  permission: 'workspaces.delete',
  audience: 'organisation',
  action: 'restore',
  resource,
  params: workspaceParams,
  response: workspaceView,
})(async ({ em, actor, params, audit }) => {
  const workspace = await findWorkspace(em, actor, { reference: params.workspaceId, status: 'archived', lock: true })
  workspace.status = 'active'
  await restoreIncidental(em, workspace)
  audit({ id: workspace.id, workspaceId: workspace.id })
  return presentWorkspace(workspace)
})

/** For lists and single reads both paths are in use: the reference documents one, its clients also call the other. */
export const workspaceRoutes: readonly Route[] = [
  createWorkspace,
  list('/admin/workspaces'),
  list('/workspaces'),
  read('/admin/workspaces/:workspaceId'),
  read('/workspaces/:workspaceId'),
  updateWorkspace,
  deleteWorkspace,
  restoreWorkspace,
]

async function listWorkspaces({ em, actor, query }: Call<undefined, Filter, undefined>) {
  if (query.status.includes('archived') && !seesArchived(actor))
    throw new ApiError('AB03', 'Only owners and admins of the organisation, and organisation keys, list archived workspaces.', {
      param: 'status',
    })
  const page = await findPage(em, Workspace, { where: matching(actor, query), query, sorts: usualSorts })
  return toList(await withUsage(em, { kind: 'workspace', rows: page.rows }, page.rows.map(presentWorkspace)), page)
}

async function readWorkspace({ em, actor, params }: Call<{ workspaceId: string }, undefined, undefined>) {
  const row = await findWorkspace(em, actor, { reference: params.workspaceId })
  const view = await withOwnUsage(em, { kind: 'workspace', row }, presentWorkspace(row))
  return { ...view, users: await presentMembers(em, row, await membersOf(em, row)) }
}

/** Their own key shows owners and admins one live workspace, and every archived one. */
const seesArchived = ({ workspaceId, role }: Actor): boolean =>
  workspaceId === null || (role !== null && isAtLeast(role, 'organisation-admin'))

const matching = (actor: Actor, { name, exact_name, search, status }: Filter): FilterQuery<Workspace> => ({
  $and: [
    { organisationId: actor.organisationId },
    { $or: status.map((wanted) => ({ ...(wanted === 'active' && visibleWorkspaces(actor)), status: wanted })) },
    searching(name, 'name'),
    searching(search, 'name', 'slug'),
    ...(exact_name === undefined ? [] : [{ name: exact_name }]),
  ],
})
