import type { FilterQuery } from '@mikro-orm/core'
import { byIdOrSlug, orNotFound } from '../../app/database/find.ts'
import { route, type Actor, type Call, type Route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { pageWindow, toList } from '../../lib/paging.ts'
import { Workspace } from './workspace.entity.ts'
import { workspaceFilterQuery, workspaceList, workspaceParams, workspaceWithUsers } from './workspace.schema.ts'
import type { z } from 'zod'

type Filter = z.output<typeof workspaceFilterQuery>

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

/** Both paths are in use: the reference documents one, its clients also call the other. */
export const workspaceRoutes = [
  list('/admin/workspaces'),
  list('/workspaces'),
  read('/admin/workspaces/:workspaceId'),
  read('/workspaces/:workspaceId'),
]

async function listWorkspaces({ em, actor, query }: Call<undefined, Filter, undefined>) {
  if (actor.workspaceId !== null && query.status.includes('archived')) {
    throw new ApiError('AB03', 'Only organisation keys list archived workspaces.', { param: 'status' })
  }
  const options = { ...pageWindow(query), orderBy: { createdAt: 'asc', id: 'asc' } } as const
  const [rows, total] = await em.findAndCount(Workspace, matching(actor, query), options)
  return toList(rows.map(presentWorkspace), total, query)
}

async function readWorkspace({ em, actor, params }: Call<{ workspaceId: string }, undefined, undefined>) {
  const row = await em.findOne(Workspace, { $and: [byIdOrSlug(params.workspaceId), { ...visible(actor), status: 'active' }] })
  return { ...presentWorkspace(orNotFound(row, 'workspace', { reference: params.workspaceId, param: 'workspaceId' })), users: [] }
}

const visible = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { id: actor.workspaceId }),
})

const matching = (actor: Actor, { name, exact_name, status }: Filter): FilterQuery<Workspace> => ({
  ...visible(actor),
  status: { $in: status },
  $and: [
    ...(name === undefined ? [] : [{ name: { $ilike: `%${name.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` } }]),
    ...(exact_name === undefined ? [] : [{ name: exact_name }]),
  ],
})

const presentWorkspace = (row: Workspace) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description ?? null,
  status: row.status,
  is_default: Number(row.isDefault),
  // The reference documents these two inside `defaults`, its clients read them outside: they are in both.
  defaults: { ...row.defaults, is_default: Number(row.isDefault), object: 'workspace' },
  usage_limits: [...row.usageLimits],
  rate_limits: [...row.rateLimits],
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'workspace' as const,
})
