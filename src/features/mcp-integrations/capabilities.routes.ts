import { route } from '../../app/route.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { demandRead, findMcpIntegration, mcpScopes } from './access.ts'
import { countsOf, isWanted, keyOf, notOffered, presentDefinition, presentSeen, readKnown, settingsByKey } from './capabilities.ts'
import { capabilityPage, integrationCapabilities, pageQuery, success, updateCapabilitiesBody } from './capability.schema.ts'
import { McpCapability } from './mcp-capability.entity.ts'
import { mcpIntegrationParams } from './mcp-integration.schema.ts'
import { z } from 'zod'

export const listMcpCapabilities = route({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegrationId/capabilities',
  summary: 'List the tools, prompts and resources of an MCP integration',
  permission: mcpScopes('read'),
  params: mcpIntegrationParams,
  query: z.object(capabilityPage),
  response: integrationCapabilities,
})(async ({ em, actor, params, query: { type, search, ...query } }) => {
  const integration = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'read' })
  demandRead(actor, integration.workspaceId)
  const known = await readKnown(em, integration.id)
  const page = pageOf(known.filter(isWanted({ type, search })), pageQuery(query), keyOf)
  const rows = await em.find(McpCapability, { id: { $in: page.rows.map(({ id }) => id) } })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const data = page.rows.flatMap(({ id }) => {
    const row = byId.get(id)
    return row === undefined ? [] : [present(row)]
  })
  return { ...toList(data, page), counts: countsOf(known.filter(({ isRemoved }) => !isRemoved)) }
})

const present = (row: McpCapability) => ({
  ...presentDefinition(row.type, row.name, row.definition),
  ...presentSeen(row),
  enabled: row.enabled,
  status: row.isRemoved ? ('removed' as const) : ('offered' as const),
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
})

export const putMcpCapabilities = route({
  method: 'PUT',
  path: '/mcp-integrations/:mcpIntegrationId/capabilities',
  summary: 'Switch tools, prompts and resources of an MCP integration on or off',
  permission: mcpScopes('update'),
  resource: 'mcp-integration',
  params: mcpIntegrationParams,
  body: updateCapabilitiesBody,
  response: success,
})(async ({ em, actor, deps, params, body, audit }) => {
  const integration = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'update' })
  const known = new Map((await readKnown(em, integration.id)).map((row) => [keyOf(row), row]))
  const changed: { readonly id: string; readonly before: boolean; readonly enabled: boolean }[] = []
  for (const [key, { enabled, name, at }] of settingsByKey(body.capabilities)) {
    const row = known.get(key)
    if (row === undefined) throw notOffered(at, name)
    if (row.enabled !== enabled) changed.push({ id: row.id, before: row.enabled, enabled })
  }
  for (const enabled of [true, false]) {
    const ids = changed.filter((row) => row.enabled === enabled).map(({ id }) => id)
    await em.nativeUpdate(McpCapability, { id: { $in: ids } }, { enabled, lastUpdatedAt: new Date(deps.clock.now()) })
  }
  const changes = changed.map(({ id, before, enabled }) => ({
    table: 'mcp_capabilities',
    id,
    before: { enabled: before },
    after: { enabled },
  }))
  audit({ id: integration.id, workspaceId: integration.workspaceId ?? null, changes })
  return { success: true as const }
})
