import { type Actor, route } from '../../app/route.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { countsOf, isWanted, keyOf, pageQuery, success } from '../mcp-integrations/index.ts'
import { changeSettings, isEnabled, presentCapabilities, readCapabilities, statusOf } from './capabilities.ts'
import { inWorkspace, mcpServerParams } from './mcp-server.schema.ts'
import { findMcpServer } from './mcp-servers.ts'
import { serverCapabilities, serverCapabilityPage, updateServerCapabilitiesBody } from './rights.schema.ts'

export const listServerCapabilities = route({
  method: 'GET',
  path: '/mcp-servers/:mcpServerId/capabilities',
  summary: 'List the tools, prompts and resources of an MCP server',
  permission: 'mcp_servers.read',
  params: mcpServerParams,
  query: serverCapabilityPage,
  response: serverCapabilities,
})(async ({ em, actor, params, query: { type, status, search, workspace_id, ...query } }) => {
  const server = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: workspace_id })
  const all = await readCapabilities(em, server)
  const wanted = all.filter(isWanted({ type, search })).filter((one) => status === undefined || statusOf(one) === status)
  const page = pageOf(wanted, pageQuery(query), keyOf)
  const offered = all.filter(({ known }) => known?.isRemoved === false)
  const counts = countsOf(offered.map((one) => ({ type: one.type, enabled: isEnabled(server, one) && one.known?.enabled === true })))
  return { ...toList(await presentCapabilities(em, server, page.rows), page), counts }
})

export const putServerCapabilities = route({
  method: 'PUT',
  path: '/mcp-servers/:mcpServerId/capabilities',
  summary: 'Switch tools, prompts and resources of an MCP server on or off',
  permission: 'mcp_servers.update',
  resource: 'mcp-server',
  params: mcpServerParams,
  query: inWorkspace,
  body: updateServerCapabilitiesBody,
  response: success,
})(async ({ em, actor, deps, params, query, body, audit }) => {
  const server = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id, forWrite: true })
  const decider = deciderOf(actor, deps.clock.now())
  const changes = await changeSettings(em, server, { settings: body.capabilities, decider })
  audit({ id: server.id, workspaceId: server.workspaceId, changes })
  return { success: true as const }
})

/** Returns the caller as the author of a decision, and its time. */
export const deciderOf = (actor: Actor, nowMs: number) => ({ by: actor.userId ?? actor.id, at: new Date(nowMs) })
