import type { EntityManager } from '@mikro-orm/postgresql'
import { findPage } from '../../app/database/list.ts'
import { flushUnique, notFound, orNotFound } from '../../app/database/find.ts'
import { route, type Actor } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { searching, toList } from '../../lib/paging.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { findWorkspace } from '../workspaces/index.ts'
import { hold } from './hold.ts'
import { settlePlaces } from './places.ts'
import { idsOfMembers } from './resources/members.ts'
import { ScimGroup } from './scim-group.entity.ts'
import { ScimWorkspaceGroup } from './workspace-group.entity.ts'
import {
  createMappingBody,
  groupFilter,
  groupList,
  groupSorts,
  mappingDeleted,
  mappingFilter,
  mappingList,
  mappingParams,
  mappingView,
} from './workspace-group.schema.ts'

const resource = 'scim-workspace-mapping'
const reading = 'organisation_settings.read'
const writing = 'organisation_settings.update'

export const listGroupsOfProvider = route({
  method: 'GET',
  path: '/scim/groups',
  summary: 'List the groups that the identity provider has written',
  permission: reading,
  audience: 'organisation',
  query: groupFilter,
  response: groupList,
})(async ({ em, actor, query }) => {
  const where = { organisationId: actor.organisationId, ...searching(query.search, 'displayName') }
  const page = await findPage(em, ScimGroup, { where, query, sorts: groupSorts })
  const counts = await em.execute<{ group_id: string; count: string }[]>(
    `SELECT group_id, count(*) AS count FROM scim_group_members
      WHERE group_id IN (SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb)) GROUP BY group_id`,
    [JSON.stringify(page.rows.map(({ id }) => id))],
  )
  const countOf = new Map(counts.map(({ group_id, count }) => [group_id, Number(count)]))
  return toList(
    page.rows.map((row) => presentGroupOfProvider(row, countOf.get(row.id) ?? 0)),
    page,
  )
})

export const listScimMappings = route({
  method: 'GET',
  path: '/scim/workspaces',
  summary: 'List the groups of the identity provider that give roles in workspaces',
  permission: reading,
  audience: 'organisation',
  query: mappingFilter,
  response: mappingList,
})(async ({ em, actor, query }) => {
  const { organisationId } = actor
  const workspace =
    query.workspace_id === undefined ? null : await findWorkspace(em, actor, { reference: query.workspace_id, param: 'workspace_id' })
  const where = {
    organisationId,
    ...(workspace !== null && { workspaceId: workspace.id }),
    ...(query.scim_group_id !== undefined && { groupId: query.scim_group_id.toLowerCase() }),
    ...(query.role !== undefined && { role: query.role }),
  }
  const page = { limit: query.page_size, offset: query.page_size * (query.page - 1), orderBy: { createdAt: 'asc', id: 'asc' } } as const
  const [rows, total] = await em.findAndCount(ScimWorkspaceGroup, where, page)
  const groups = await em.find(ScimGroup, { organisationId, id: { $in: rows.map(({ groupId }) => groupId) } })
  const names = new Map(groups.map(({ id, displayName }) => [id, displayName]))
  return { mappings: rows.map((row) => presentMapping(row, names.get(row.groupId) ?? '')), total_count: total }
})

export const createScimMapping = route({
  method: 'POST',
  path: '/scim/workspaces',
  summary: 'Give the members of a group of the identity provider a role in a workspace',
  permission: writing,
  audience: 'organisation',
  action: 'create',
  resource,
  body: createMappingBody,
  response: mappingView,
})(async ({ em, actor, deps, body, audit }) => {
  const { organisationId } = actor
  await hold(em, organisationId)
  const workspace = await findWorkspace(em, actor, { reference: body.workspace_id, param: 'workspace_id' })
  const group = await findGroup(em, organisationId, body)
  const row = em.create(ScimWorkspaceGroup, {
    id: uuidv7(),
    organisationId,
    workspaceId: workspace.id,
    groupId: group.id,
    role: body.role,
    createdBy: actor.id,
  })
  await flushUnique(em, `The group ${group.displayName} gives a role in this workspace already.`, 'scim_group_id')
  const changes = await settlePlaces(em, deps, { organisationId, userIds: await idsOfMembers(em, group.id), by: { actor, param: 'role' } })
  audit({ id: row.id, workspaceId: workspace.id, changes })
  return presentMapping(row, group.displayName)
})

export const deleteScimMapping = route({
  method: 'DELETE',
  path: '/scim/workspaces/:scimWorkspaceGroupId',
  summary: 'Let a group of the identity provider no longer give a role in a workspace',
  permission: writing,
  audience: 'organisation',
  action: 'delete',
  resource,
  params: mappingParams,
  response: mappingDeleted,
})(async ({ em, actor, deps, params, audit }) => {
  const { organisationId } = actor
  await hold(em, organisationId)
  const id = params.scimWorkspaceGroupId
  const row = isUuid(id) ? await em.findOne(ScimWorkspaceGroup, { id: id.toLowerCase(), organisationId }) : null
  if (row === null) throw notFound('mapping', id, 'scimWorkspaceGroupId')
  em.remove(row)
  await em.flush()
  const changes = await settlePlaces(em, deps, {
    organisationId,
    userIds: await idsOfMembers(em, row.groupId),
    by: { actor, param: 'scimWorkspaceGroupId' },
  })
  audit({ id: row.id, workspaceId: row.workspaceId, changes })
  return { success: true as const }
})

async function findGroup(
  em: EntityManager,
  organisationId: Actor['organisationId'],
  {
    scim_group_id: id,
    scim_group_name: name,
  }: { readonly scim_group_id?: string | undefined; readonly scim_group_name?: string | undefined },
): Promise<ScimGroup> {
  if (id !== undefined) {
    const row = await em.findOne(ScimGroup, { organisationId, id: id.toLowerCase() })
    return orNotFound(row, 'group of the identity provider', { reference: id, param: 'scim_group_id' })
  }
  const [found] = await em.execute<{ id: string }[]>(
    'SELECT id FROM scim_groups WHERE organisation_id = ? AND lower(display_name) = lower(?)',
    [organisationId, name ?? ''],
  )
  if (found === undefined) throw notFound('group of the identity provider', name ?? '', 'scim_group_name')
  return em.findOneOrFail(ScimGroup, { organisationId, id: found.id })
}

const presentGroupOfProvider = (row: ScimGroup, members: number) => ({
  id: row.id,
  display_name: row.displayName,
  external_id: row.externalId ?? null,
  member_count: members,
  named_workspace: row.namedWorkspace ?? null,
  named_role: row.namedRole ?? null,
  organisation_role: row.organisationRole ?? null,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'scim_group' as const,
})

const presentMapping = ({ id, workspaceId, groupId, role }: ScimWorkspaceGroup, name: string) => ({
  id,
  workspace_id: workspaceId,
  scim_group: name,
  scim_group_id: groupId,
  role,
})
