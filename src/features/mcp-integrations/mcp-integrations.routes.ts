import type { FilterQuery } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { demandOwnOrganisation, workspaceFilter } from '../workspaces/index.ts'
import { demandRead, demandWrite, findMcpIntegration, listedHomes, mcpScopes, visibleIntegrations } from './access.ts'
import { McpIntegration } from './mcp-integration.entity.ts'
import {
  createMcpIntegrationBody,
  mcpIntegrationFilter,
  mcpIntegrationList,
  mcpIntegrationParams,
  mcpIntegrationRead,
  mcpIntegrationView,
  mcpReference,
  updateMcpIntegrationBody,
} from './mcp-integration.schema.ts'
import {
  addMcpIntegration,
  archiveMcpIntegration,
  changeMcpIntegration,
  countMcpWorkspaces,
  mcpDependants,
  presentMcpIntegration,
} from './mcp-integrations.ts'
import { presentTold } from './metadata.routes.ts'

const resource = 'mcp-integration'
const empty = z.object({})

export const createMcpIntegration = route({
  method: 'POST',
  path: '/mcp-integrations',
  summary: 'Store where an MCP server is, and how one signs in there',
  permission: mcpScopes('create'),
  resource,
  body: createMcpIntegrationBody,
  response: mcpReference,
})(async ({ em, actor, deps, body, audit }) => {
  demandOwnOrganisation(actor, body.organisation_id)
  const workspaceId = await workspaceFilter(em, actor, body.workspace_id)
  demandWrite(actor, workspaceId, 'create')
  const row = await addMcpIntegration(em, { body, workspaceId }, { actor, ...deps })
  audit({ id: row.id, workspaceId })
  return { id: row.id, slug: row.slug }
})

export const listMcpIntegrations = route({
  method: 'GET',
  path: '/mcp-integrations',
  summary: 'List MCP integrations',
  permission: mcpScopes('list'),
  query: mcpIntegrationFilter,
  response: mcpIntegrationList,
})(async ({ em, actor, query }) => {
  demandOwnOrganisation(actor, query.organisation_id)
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const homes = atHomes(listedHomes(actor, query.type), workspaceId)
  const where = { $and: [await visibleIntegrations(em, actor), homes, searching(query.search, 'name')] }
  const page = await findPage(em, McpIntegration, { where, query, sorts: usualSorts })
  const counts = await countMcpWorkspaces(em, page.rows)
  return toList(
    page.rows.map((row) => ({ ...presentMcpIntegration(row), ...presentTold(row), workspaces_count: counts.get(row.id) ?? 0 })),
    page,
  )
})

/** The organisation's own; one workspace's or, without a workspace, every workspace's. */
function atHomes(homes: ReturnType<typeof listedHomes>, workspaceId: string | null): FilterQuery<McpIntegration> {
  const ofWorkspace: FilterQuery<McpIntegration> = workspaceId === null ? { workspaceId: { $ne: null } } : { workspaceId }
  const ofOrganisation: FilterQuery<McpIntegration> = { workspaceId: null }
  return { $or: [...(homes.has('workspace') ? [ofWorkspace] : []), ...(homes.has('organisation') ? [ofOrganisation] : [])] }
}

export const readMcpIntegration = route({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegrationId',
  summary: 'Read an MCP integration, but for its secrets',
  permission: mcpScopes('read'),
  params: mcpIntegrationParams,
  query: mcpIntegrationRead,
  response: mcpIntegrationView,
})(async ({ em, actor, params, query }) => {
  const row = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'read' })
  demandRead(actor, row.workspaceId)
  const { globalWorkspaceAccess: shared } = row
  const view = { ...presentMcpIntegration(row), global_workspace_access: shared ? { ...shared } : null }
  return query.include_used_by ? { ...view, used_by: await mcpDependants(em, row, actor.workspaceId) } : view
})

export const updateMcpIntegration = route({
  method: 'PUT',
  path: '/mcp-integrations/:mcpIntegrationId',
  summary: 'Change an MCP integration',
  permission: mcpScopes('update'),
  resource,
  params: mcpIntegrationParams,
  body: updateMcpIntegrationBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'update' })
  await changeMcpIntegration(em, row, { body, ...deps })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

export const deleteMcpIntegration = route({
  method: 'DELETE',
  path: '/mcp-integrations/:mcpIntegrationId',
  summary: 'Delete an MCP integration; refused while servers use it',
  permission: mcpScopes('delete'),
  resource,
  params: mcpIntegrationParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const row = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'delete' })
  await archiveMcpIntegration(em, row)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
