import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { byIdOrSlug, holdSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { grantedBy } from '../integrations/index.ts'
import { demandScope } from '../workspaces/index.ts'
import { McpIntegrationWorkspace } from './mcp-integration-workspace.entity.ts'
import { McpIntegration } from './mcp-integration.entity.ts'

type Verb = 'create' | 'read' | 'update' | 'delete' | 'list'
type Home = 'organisation' | 'workspace'

const scopeOf = (home: Home, verb: Verb): string => `${home}_mcp_integrations.${verb}`

/** The scopes of a verb: one for the organisation's integrations, one for a workspace's. */
export const mcpScopes = (verb: Verb): string[] => [scopeOf('organisation', verb), scopeOf('workspace', verb)]

const homeOf = (workspaceId: string | null | undefined): Home => (workspaceId ? 'workspace' : 'organisation')

/** Refuses an organisation key that may not read integrations there; workspace keys see the shared ones. */
export function demandRead(actor: Actor, workspaceId: string | null | undefined): void {
  if (actor.workspaceId === null) demandScope(actor, scopeOf(homeOf(workspaceId), 'read'))
}

/** Refuses a caller that may not write integrations there. */
export function demandWrite(actor: Actor, workspaceId: string | null | undefined, verb: Verb): void {
  if (actor.workspaceId !== null && !workspaceId)
    throw new ApiError('AB03', "The organisation's MCP integrations are changed with an organisation key.")
  demandScope(actor, scopeOf(homeOf(workspaceId), verb))
}

/** The homes that a list shows: those asked for and, for an organisation key, allowed by its scopes. AB03 when none is left. */
export function listedHomes(actor: Actor, asked: Home | 'all'): ReadonlySet<Home> {
  const wanted: Home[] = asked === 'all' ? ['organisation', 'workspace'] : [asked]
  const homes = wanted.filter((home) => actor.workspaceId !== null || actor.permissions.has(scopeOf(home, 'list')))
  if (homes.length === 0) throw new ApiError('AB03', `This key lacks the scope ${asked}_mcp_integrations.list.`, { param: 'type' })
  return new Set(homes)
}

/**
 * Returns the integrations that the caller may see. An organisation key: all. A workspace key: its workspace's own, and those of the organisation
 * that its workspace may use.
 */
export async function visibleIntegrations(em: EntityManager, actor: Actor): Promise<FilterQuery<McpIntegration>> {
  const live = { organisationId: actor.organisationId, status: 'active' } as const
  if (actor.workspaceId === null) return live
  return { ...live, $or: [{ workspaceId: actor.workspaceId }, ...(await sharedWith(em, actor.workspaceId))] }
}

const sharedWith = async (em: EntityManager, workspaceId: string): Promise<FilterQuery<McpIntegration>[]> =>
  grantedBy(await em.find(McpIntegrationWorkspace, { workspaceId }, { fields: ['integrationId', 'enabled'] }))

interface IntegrationQuery {
  /** UUID or slug. */
  readonly reference: string
  readonly verb: Verb
  /** The field or parameter that names it. */
  readonly param?: string
  /** Keeps the row from being archived until the transaction ends. */
  readonly hold?: boolean
}

/** An integration that the caller may see, with the scope for the verb checked; AB08 otherwise. Locked when it is about to change. */
export async function findMcpIntegration(
  em: EntityManager,
  actor: Actor,
  { reference, verb, param = 'mcpIntegrationId', hold = false }: IntegrationQuery,
): Promise<McpIntegration> {
  const visible = await visibleIntegrations(em, actor)
  const lockMode = verb === 'read' ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE
  const where = { $and: [byIdOrSlug(reference), visible] }
  const found = await em.findOne(McpIntegration, where, verb === 'read' && !hold ? {} : { lockMode })
  const row = await orMeant(found, { noun: 'MCP integration', reference, param }, () => em.find(McpIntegration, visible, onlySlugs))
  if (verb !== 'read') demandWrite(actor, row.workspaceId, verb)
  return row
}

/** Returns the access of a workspace: its own integration, or the organisation's by the grant for this workspace, else for all. */
async function accessOf(em: EntityManager, integration: McpIntegration, workspaceId: string): Promise<'given' | 'refused' | 'not given'> {
  if (integration.workspaceId) return integration.workspaceId === workspaceId ? 'given' : 'refused'
  const row = await em.findOne(McpIntegrationWorkspace, { integrationId: integration.id, workspaceId })
  if (row !== null) return row.enabled ? 'given' : 'refused'
  return integration.globalWorkspaceAccess?.enabled === true ? 'given' : 'not given'
}

interface Use {
  readonly integration: McpIntegration
  readonly workspaceId: string
}

/**
 * Refuses a caller that would use an integration in a workspace without access. An organisation key that may change integrations gives access by
 * using it, unless the workspace is kept out.
 */
export async function demandMcpAccess(em: EntityManager, actor: Actor, { integration, workspaceId }: Use): Promise<void> {
  await holdSlug(em, `mcp-integration-access:${integration.id}`, workspaceId)
  const access = await accessOf(em, integration, workspaceId)
  if (access === 'given') return
  if (access === 'refused' || !actor.permissions.has(scopeOf('organisation', 'update')))
    throw new ApiError(
      'AB03',
      `The workspace has no access to this MCP integration. PUT /v1/mcp-integrations/${integration.slug}/workspaces gives it.`,
      { param: 'mcp_integration_id' },
    )
  em.create(McpIntegrationWorkspace, { organisationId: integration.organisationId, integrationId: integration.id, workspaceId })
}
