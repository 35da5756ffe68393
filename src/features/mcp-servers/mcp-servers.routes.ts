import { z } from 'zod'
import { byIdOrSlug } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { toAmount } from '../limits/index.ts'
import { mcpReference } from '../mcp-integrations/index.ts'
import { demandGuardrails } from '../references/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { deciderOf } from './capabilities.routes.ts'
import { McpGrant } from '../mcp-tokens/mcp-grant.entity.ts'
import { approve } from './capabilities.ts'
import { McpServerEntity } from './mcp-server.entity.ts'
import {
  createMcpServerBody,
  inWorkspace,
  mcpServerFilter,
  mcpServerList,
  mcpServerParams,
  mcpServerView,
  updateMcpServerBody,
} from './mcp-server.schema.ts'
import { addMcpServer, findMcpServer, presentMcpDetail, presentMcpServer, readContexts } from './mcp-servers.ts'

const resource = 'mcp-server'
const empty = z.object({})

export const createMcpServer = route({
  method: 'POST',
  path: '/mcp-servers',
  summary: 'Give a workspace a handle on an MCP integration',
  permission: 'mcp_servers.create',
  resource,
  body: createMcpServerBody,
  response: mcpReference,
})(async ({ em, actor, deps, body, audit }) => {
  const row = await addMcpServer(em, { actor, vault: deps.vault }, body)
  const changes = await approve(em, row, { approvals: null, decider: deciderOf(actor, deps.clock.now()) })
  audit({ id: row.id, workspaceId: row.workspaceId, changes })
  return { id: row.id, slug: row.slug }
})

export const listMcpServers = route({
  method: 'GET',
  path: '/mcp-servers',
  summary: 'List MCP servers',
  permission: 'mcp_servers.list',
  query: mcpServerFilter,
  response: mcpServerList,
})(async ({ em, actor, deps, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const asked = {
    organisationId: actor.organisationId,
    status: 'active' as const,
    ...(workspaceId !== null && { workspaceId }),
    ...(query.id !== undefined && byIdOrSlug(query.id)),
  }
  const where = { $and: [asked, searching(query.search, 'name')] }
  const page = await findPage(em, McpServerEntity, { where, query, sorts: usualSorts })
  const contextOf = await readContexts(em, page.rows)
  return toList(
    page.rows.map((row) => presentMcpServer(row, contextOf(row), deps.config)),
    page,
  )
})

export const readMcpServer = route({
  method: 'GET',
  path: '/mcp-servers/:mcpServerId',
  summary: 'Read an MCP server',
  permission: 'mcp_servers.read',
  params: mcpServerParams,
  query: inWorkspace,
  response: mcpServerView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id })
  return presentMcpDetail(row, (await readContexts(em, [row]))(row), deps.config)
})

export const updateMcpServer = route({
  method: 'PUT',
  path: '/mcp-servers/:mcpServerId',
  summary: 'Change an MCP server',
  permission: 'mcp_servers.update',
  resource,
  params: mcpServerParams,
  query: inWorkspace,
  body: updateMcpServerBody,
  response: empty,
})(async ({ em, actor, deps, params, query, body, audit }) => {
  const row = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id, forWrite: true })
  const { name, description, default_access: defaultAccess, pinning, tool_price: price } = body
  await demandGuardrails(em, { home: row, vault: deps.vault }, { defaults: body, path: null })
  // A pin begins with the definitions that are known when it is set.
  const begins = row.pinning === 'off' && pinning !== undefined && pinning !== 'off'
  const changes = begins ? await approve(em, row, { approvals: null, decider: deciderOf(actor, deps.clock.now()) }) : []
  assignDefined(row, { name, description, defaultAccess, pinning, toolPrice: toAmount(price) })
  assignDefined(row, { discovery: body.discovery, inputGuardrails: body.input_guardrails, outputGuardrails: body.output_guardrails })
  audit({ id: row.id, workspaceId: row.workspaceId, changes })
  return {}
})

export const deleteMcpServer = route({
  method: 'DELETE',
  path: '/mcp-servers/:mcpServerId',
  summary: 'Delete an MCP server',
  permission: 'mcp_servers.delete',
  resource,
  params: mcpServerParams,
  query: inWorkspace,
  response: empty,
})(async ({ em, actor, params, query, audit }) => {
  const row = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id, forWrite: true })
  row.status = 'archived'
  await em.nativeDelete(McpGrant, { serverId: row.id })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
