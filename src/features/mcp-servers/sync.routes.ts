import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { type EarlyCall, route } from '../../app/route.ts'
import { inTrial } from '../../app/trial-limit.ts'
import {
  askFacts,
  askForSync,
  findMcpIntegration,
  mcpIntegrationParams,
  mcpScopes,
  presentMetadata,
  metadataFields,
  storeSync,
  toAsked,
} from '../mcp-integrations/index.ts'
import { signInFinder } from '../mcp-tokens/index.ts'
import { inWorkspace, mcpServerParams } from './mcp-server.schema.ts'
import { findMcpServer, readContexts } from './mcp-servers.ts'
import { tellChanges } from './tell-changes.ts'

const names = z.array(z.string())

const synced = z
  .object({
    object: z.literal('mcp_sync'),
    ...metadataFields,
    added: names,
    changed: names,
    removed: names,
    held: z.int().meta({ description: 'Definitions that wait for an approval, on all servers of the integration.' }),
  })
  .meta({ id: 'McpSync', description: 'What a sync found. A failed one changes nothing of what was known before.' })

export const syncMcpIntegration = route({
  method: 'POST',
  path: '/mcp-integrations/:mcpIntegrationId/sync',
  summary: 'Ask an MCP server what it is and what it offers, and store it',
  permission: mcpScopes('update'),
  resource: 'mcp-integration',
  action: 'sync',
  params: mcpIntegrationParams,
  before: ({ actor, params }: EarlyCall<z.output<typeof mcpIntegrationParams>, unknown, unknown>, deps) =>
    askForSync(actor, params.mcpIntegrationId, { ...deps, signIn: signInFinder(deps, actor, null) }),
  response: synced,
})(async ({ em, actor, deps, params, found, audit }) => {
  const integration = await findMcpIntegration(em, actor, { reference: params.mcpIntegrationId, verb: 'update' })
  const { isFirst, ...changes } = await storeSync(em, integration, { synced: found, now: new Date(deps.clock.now()) })
  const { id: integrationId, organisationId, workspaceId } = integration
  const held = 'found' in found.outcome ? await tellChanges(em, deps, { organisationId, integrationId, isFirst }) : 0
  audit({ id: integrationId, workspaceId: workspaceId ?? null })
  const lists = { added: [...changes.added], changed: [...changes.changed], removed: [...changes.removed] }
  return { object: 'mcp_sync' as const, ...presentMetadata(integration), ...lists, held }
})

const tested = z
  .object({
    success: z.boolean(),
    status_code: z.int().nullable().meta({ description: '200 when it answered; null: it did not, or not in the protocol.' }),
    response_time_ms: z.int().nullable(),
    url: z.string().nullable(),
    server_name: z.string().nullable(),
    server_version: z.string().nullable(),
    protocol_version: z.string().nullable(),
    era: z.enum(['modern', 'legacy']).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'McpServerTest', description: 'Whether an MCP server answers.' })

type ServerCall = EarlyCall<z.output<typeof mcpServerParams>, z.output<typeof inWorkspace>, unknown>

export const testMcpServer = route({
  method: 'POST',
  path: '/mcp-servers/:mcpServerId/test',
  summary: 'Ask an MCP server what it is, without storing it',
  permission: 'mcp_servers.update',
  resource: 'mcp-server',
  effect: 'none',
  params: mcpServerParams,
  query: inWorkspace,
  before: tryServer,
  response: tested,
})(async ({ found }) => found)

async function tryServer({ actor, params, query }: ServerCall, deps: Deps): Promise<z.output<typeof tested>> {
  const asked = await inTenant(deps.orm, actor.organisationId, async (em) => {
    const row = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id })
    return toAsked(em, (await readContexts(em, [row]))(row).integration, { ...deps, signIn: signInFinder(deps, actor, row.id) })
  })
  const outcome = await inTrial(deps.egress, actor.organisationId, () => askFacts(deps, asked))
  const common = { response_time_ms: outcome.durationMs, url: asked.integration.url }
  if ('fault' in outcome) {
    const unknown = { server_name: null, server_version: null, protocol_version: null, era: null }
    return { success: false, status_code: null, ...common, ...unknown, error: outcome.fault }
  }
  const { info, revision, era } = outcome.found
  const facts = { server_name: info.name, server_version: info.version, protocol_version: revision, era }
  return { success: true, status_code: 200, ...common, ...facts, error: null }
}
