import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, holdSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import type { Config } from '../../config/config.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { fromAmount, toAmount } from '../limits/index.ts'
import { demandMcpAccess, findMcpIntegration, presentTold } from '../mcp-integrations/index.ts'
import { McpIntegration } from '../mcp-integrations/mcp-integration.entity.ts'
import { demandGuardrails } from '../references/index.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { McpServerEntity } from './mcp-server.entity.ts'
import type { CreateMcpServer } from './mcp-server.schema.ts'

interface ServerReference {
  /** UUID or slug. */
  readonly reference: string
  readonly workspace: string | undefined
  readonly forWrite?: boolean
}

/** A live server that the caller may see; a slug without a workspace is looked up in the default workspace. AB08. */
export async function findMcpServer(em: EntityManager, actor: Actor, wanted: ServerReference): Promise<McpServerEntity> {
  const { reference } = wanted
  const workspaceId = isUuid(reference)
    ? await workspaceFilter(em, actor, wanted.workspace)
    : (await resolveWorkspace(em, actor, wanted.workspace)).id
  const visible = { ...(workspaceId !== null && { workspaceId }), organisationId: actor.organisationId, status: 'active' as const }
  const lock = wanted.forWrite === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}
  const row = await em.findOne(McpServerEntity, { ...visible, ...byIdOrSlug(reference) }, lock)
  return orMeant(row, { noun: 'MCP server', reference, param: 'mcpServerId' }, () => em.find(McpServerEntity, visible, onlySlugs))
}

interface Maker {
  readonly actor: Actor
  readonly vault: Vault
}

/** Gives a workspace a handle on an integration. The row is written when it returns. */
export async function addMcpServer(em: EntityManager, { actor, vault }: Maker, body: CreateMcpServer): Promise<McpServerEntity> {
  const named = { reference: body.mcp_integration_id, verb: 'read', param: 'mcp_integration_id', hold: true } as const
  const integration = await findMcpIntegration(em, actor, named)
  const workspace = await resolveWorkspace(em, actor, body.workspace_id ?? integration.workspaceId ?? undefined)
  if (integration.workspaceId && integration.workspaceId !== workspace.id)
    throw new ApiError('AB01', 'The MCP integration belongs to another workspace.', { param: 'mcp_integration_id' })
  await demandMcpAccess(em, actor, { integration, workspaceId: workspace.id })
  const home = { organisationId: actor.organisationId, workspaceId: workspace.id }
  await demandGuardrails(em, { home, vault }, { defaults: body, path: null })
  const slug = await chooseSlug(em, workspace.id, body)
  const row = em.create(McpServerEntity, {
    organisationId: actor.organisationId,
    workspaceId: workspace.id,
    integrationId: integration.id,
    slug,
    name: body.name,
    description: body.description ?? null,
    ...settingsOf(body),
    createdBy: actor.userId ?? actor.id,
  })
  await flushUnique(em, `This workspace already has an MCP server with the slug "${slug}".`, 'slug')
  return row
}

const settingsOf = (body: CreateMcpServer) => ({
  ...(body.default_access !== undefined && { defaultAccess: body.default_access }),
  ...(body.pinning !== undefined && { pinning: body.pinning }),
  ...(body.discovery !== undefined && { discovery: body.discovery }),
  toolPrice: toAmount(body.tool_price ?? null),
  inputGuardrails: body.input_guardrails ?? [],
  outputGuardrails: body.output_guardrails ?? [],
})

/** The longest slug of a server. */
const longestSlug = 50

async function chooseSlug(em: EntityManager, workspaceId: string, { slug, name }: CreateMcpServer): Promise<string> {
  const made = toSlug(name, 'mcp-server').slice(0, longestSlug)
  const wanted = slug ?? (made.length < 3 ? `mcp-${made}` : made)
  await holdSlug(em, `mcp-servers:${workspaceId}`, wanted)
  if (slug !== undefined) return slug
  const isTaken = async (candidate: string) => (await em.count(McpServerEntity, { workspaceId, slug: candidate, status: 'active' })) > 0
  return (await isTaken(wanted)) ? freeSlug(wanted.slice(0, longestSlug - 7), isTaken) : wanted
}

type Origin = Pick<Config, 'publicUrl' | 'host' | 'port' | 'tls'>

interface ServerContext {
  readonly workspace: Pick<Workspace, 'slug' | 'name'>
  readonly integration: McpIntegration
}

/** Reads the workspaces and integrations of servers, by their ids. */
export async function readContexts(em: EntityManager, rows: readonly McpServerEntity[]): Promise<(row: McpServerEntity) => ServerContext> {
  const workspaces = await em.find(Workspace, { id: { $in: rows.map(({ workspaceId }) => workspaceId) } })
  const integrations = await em.find(McpIntegration, { id: { $in: rows.map(({ integrationId }) => integrationId) } })
  const byId = new Map(workspaces.map((one) => [one.id, one]))
  const integrationById = new Map(integrations.map((one) => [one.id, one]))
  return ({ workspaceId, integrationId }) => {
    const workspace = byId.get(workspaceId)
    const integration = integrationById.get(integrationId)
    if (workspace === undefined || integration === undefined) throw new Error('A server has a workspace and an integration.')
    return { workspace, integration }
  }
}

const present = (row: McpServerEntity, { workspace }: ServerContext, config: Origin) => ({
  id: row.id,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId,
  slug: row.slug,
  name: row.name,
  description: row.description ?? null,
  owner_id: row.createdBy ?? null,
  status: row.status,
  default_access: row.defaultAccess,
  default_user_access: row.defaultUserAccess,
  pinning: row.pinning,
  discovery: row.discovery,
  tool_price: fromAmount(row.toolPrice),
  input_guardrails: [...row.inputGuardrails],
  output_guardrails: [...row.outputGuardrails],
  mcp_integration_id: row.integrationId,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  url: `${ownOrigin(config)}/${workspace.slug}/${row.slug}/mcp`,
  object: 'mcp_server' as const,
})

/** A server as lists show it. */
export const presentMcpServer = (row: McpServerEntity, context: ServerContext, config: Origin) => ({
  ...present(row, context, config),
  ...presentTold(context.integration),
  mcp_integration_slug: context.integration.slug,
  mcp_integration_url: context.integration.url,
  auth_type: context.integration.authType,
  workspace_name: context.workspace.name,
  workspace_slug: context.workspace.slug,
})

/** A server in full. */
export const presentMcpDetail = (row: McpServerEntity, context: ServerContext, config: Origin) => {
  const { id, slug, status, url, transport, authType, customHeaderNames, passthroughHeaders } = context.integration
  return {
    ...present(row, context, config),
    mcp_integration_details: {
      id,
      slug,
      status,
      url,
      transport,
      auth_type: authType,
      configurations: { custom_header_names: [...customHeaderNames], passthrough_header: { ...passthroughHeaders } },
    },
  }
}
