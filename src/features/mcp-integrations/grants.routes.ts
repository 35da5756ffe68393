import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound } from '../../app/database/find.ts'
import { type Actor, route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { demandRead, findMcpIntegration, mcpScopes } from './access.ts'
import { mcpGrantList, mcpGrantsPage, updateMcpGrantsBody, type UpdateMcpGrants } from './grants.schema.ts'
import { McpIntegrationWorkspace } from './mcp-integration-workspace.entity.ts'
import type { McpIntegration } from './mcp-integration.entity.ts'
import { mcpIntegrationParams } from './mcp-integration.schema.ts'

export const listMcpGrants = route({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegrationId/workspaces',
  summary: 'List the workspaces whose access to an MCP integration is set',
  permission: mcpScopes('read'),
  params: mcpIntegrationParams,
  query: mcpGrantsPage,
  response: mcpGrantList,
})(async ({ em, actor, params, query }) => {
  const integration = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'read' })
  demandRead(actor, integration.workspaceId)
  const wanted = query.search?.toLowerCase() ?? ''
  const all = await findGrants(em, actor, integration)
  const matching = all.filter(({ slug, name }) => [slug, name].some((text) => text.toLowerCase().includes(wanted)))
  const page = pageOf(matching, query, ({ id }) => id)
  const shared = integration.globalWorkspaceAccess
  return { ...toList(page.rows, page), workspaces: page.rows, global_workspace_access: shared ? { ...shared } : null }
})

/** By the slugs of the workspaces; a workspace key sees its own. */
async function findGrants(em: EntityManager, { organisationId, workspaceId }: Actor, integration: McpIntegration) {
  const own = workspaceId === null ? {} : { workspaceId }
  const rows = await em.find(McpIntegrationWorkspace, { integrationId: integration.id, ...own })
  const grants = new Map<string, Pick<McpIntegrationWorkspace, 'enabled' | 'createdAt' | 'lastUpdatedAt'>>(
    rows.map((row) => [row.workspaceId, row]),
  )
  const { createdAt, lastUpdatedAt } = integration
  if (integration.workspaceId) grants.set(integration.workspaceId, { enabled: true, createdAt, lastUpdatedAt })
  const where = { organisationId, status: 'active' as const, id: { $in: [...grants.keys()] } }
  const workspaces = await em.find(Workspace, where, { orderBy: { slug: 'asc' } })
  return workspaces.flatMap(({ id, slug, name, status }) => {
    const grant = grants.get(id)
    if (grant === undefined) return []
    const times = { created_at: grant.createdAt.toISOString(), last_updated_at: grant.lastUpdatedAt.toISOString() }
    return [{ id, slug, name, status, enabled: grant.enabled, ...times }]
  })
}

export const putMcpGrants = route({
  method: 'PUT',
  path: '/mcp-integrations/:mcpIntegrationId/workspaces',
  summary: 'Set the workspaces that may use an MCP integration of the organisation',
  permission: mcpScopes('update'),
  resource: 'mcp-integration',
  params: mcpIntegrationParams,
  body: updateMcpGrantsBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const integration = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'update' })
  if (integration.workspaceId)
    throw new ApiError('AB01', 'The MCP integration belongs to one workspace, and serves no other.', { param: 'mcpIntegrationId' })
  await changeGrants(em, integration, body)
  audit({ id: integration.id })
  return {}
})

async function changeGrants(em: EntityManager, integration: McpIntegration, body: UpdateMcpGrants): Promise<void> {
  const { id: integrationId, organisationId } = integration
  const named = await namedWorkspaces(em, integration, body)
  const rows = new Map((await em.find(McpIntegrationWorkspace, { integrationId })).map((row) => [row.workspaceId, row]))
  if (body.override_existing_workspace_access) for (const row of rows.values()) if (!named.has(row.workspaceId)) em.remove(row)
  for (const [workspaceId, enabled] of named) {
    const row = rows.get(workspaceId)
    if (row === undefined) em.create(McpIntegrationWorkspace, { organisationId, integrationId, workspaceId, enabled })
    else row.enabled = enabled
  }
  if (body.global_workspace_access !== undefined) integration.globalWorkspaceAccess = body.global_workspace_access
}

/** Returns the access of each workspace by its id. AB08 for one that does not exist, AB01 for one that comes twice. */
async function namedWorkspaces(
  em: EntityManager,
  { organisationId }: McpIntegration,
  { workspaces }: UpdateMcpGrants,
): Promise<ReadonlyMap<string, boolean>> {
  const rows = await em.find(Workspace, { organisationId, status: 'active' }, { fields: ['id', 'slug'] })
  const ids = new Map(rows.flatMap(({ id, slug }) => [[id, id] as const, [slug, id] as const]))
  const named = new Map<string, boolean>()
  for (const [at, { id: reference, enabled }] of workspaces.entries()) {
    const param = `workspaces[${at}].id`
    const id = ids.get(toReference(reference))
    if (id === undefined) throw notFound('workspace', reference, param)
    if (named.has(id)) throw new ApiError('AB01', `The workspace "${reference}" comes twice.`, { param })
    named.set(id, enabled)
  }
  return named
}
