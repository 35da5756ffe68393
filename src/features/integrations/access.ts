import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { byIdOrSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { demandScope } from '../workspaces/index.ts'
import { IntegrationWorkspace } from './integration-workspace.entity.ts'
import { Integration } from './integration.entity.ts'

type Verb = 'create' | 'read' | 'update' | 'delete' | 'list'

/** The scopes of a verb: one for the organisation's integrations, one for a workspace's. */
export const integrationScopes = (verb: Verb): string[] => [`organisation_integrations.${verb}`, `workspace_integrations.${verb}`]

/** The scope that a verb needs on an integration of that home. */
const scopeAt = (workspaceId: string | null | undefined, verb: Verb): string =>
  `${workspaceId ? 'workspace' : 'organisation'}_integrations.${verb}`

/** Refuses an organisation key that may not read integrations there; workspace keys see the shared ones. */
export function demandRead(actor: Actor, workspaceId: string | null | undefined): void {
  if (actor.workspaceId === null) demandScope(actor, scopeAt(workspaceId, 'read'))
}

type Level = 'organisation' | 'workspace'

/** The levels that a list shows: those asked for and, for an organisation key, allowed by its scopes. AB03 when none is left. */
export function listedLevels(actor: Actor, asked: Level | 'all'): ReadonlySet<Level> {
  const wanted: Level[] = asked === 'all' ? ['organisation', 'workspace'] : [asked]
  const levels = wanted.filter((level) => actor.workspaceId !== null || actor.permissions.has(`${level}_integrations.list`))
  if (levels.length === 0) throw new ApiError('AB03', `This key lacks the scope ${asked}_integrations.list.`, { param: 'type' })
  return new Set(levels)
}

/** Refuses a caller that may not write integrations there. */
export function demandWrite(actor: Actor, workspaceId: string | null | undefined, verb: Verb): void {
  if (actor.workspaceId !== null && !workspaceId) {
    throw new ApiError('AB03', "The organisation's integrations are changed with an organisation key.")
  }
  demandScope(actor, scopeAt(workspaceId, verb))
}

/**
 * Returns the integrations that the caller may see. An organisation key: all. A workspace key: its workspace's own, and those of the organisation
 * that its workspace may use.
 */
export async function visibleIntegrations(em: EntityManager, actor: Actor): Promise<FilterQuery<Integration>> {
  const live = { organisationId: actor.organisationId, kind: 'integration', status: 'active' } as const
  if (actor.workspaceId === null) return live
  return { ...live, $or: [{ workspaceId: actor.workspaceId }, ...(await sharedWith(em, actor.workspaceId))] }
}

const sharedWith = async (em: EntityManager, workspaceId: string): Promise<FilterQuery<Integration>[]> =>
  grantedBy(await em.find(IntegrationWorkspace, { workspaceId }, { fields: ['integrationId', 'enabled'] }))

/** The word of an integration on one workspace. */
interface WorkspaceGrant {
  readonly integrationId: string
  readonly enabled: boolean
}

/** Returns the conditions on integrations of the organisation that a workspace may use, from what they say of it: a word on the workspace stands above the global access. */
export function grantedBy(said: readonly WorkspaceGrant[]) {
  const ids = (wanted: boolean) => said.filter(({ enabled }) => enabled === wanted).map(({ integrationId }) => integrationId)
  return [
    { workspaceId: null, id: { $in: ids(true) } },
    { workspaceId: null, globalWorkspaceAccess: { enabled: true }, id: { $nin: ids(false) } },
  ]
}

interface IntegrationQuery {
  readonly reference: string
  readonly verb: Verb
  /** The field or parameter that names it. */
  readonly param?: string
  /** Keeps the row from being archived until the transaction ends. */
  readonly hold?: boolean
}

/** An integration that the caller may see, with the scope for the verb checked; AB08 otherwise. Locked when it is about to change. */
export async function findIntegration(
  em: EntityManager,
  actor: Actor,
  { reference, verb, param = 'slug', hold = false }: IntegrationQuery,
): Promise<Integration> {
  const visible = await visibleIntegrations(em, actor)
  const where = { $and: [byIdOrSlug(reference), visible] }
  const lockMode = verb === 'read' ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE
  const found = await em.findOne(Integration, where, verb === 'read' && !hold ? {} : { lockMode })
  const row = await orMeant(found, { noun: 'integration', reference, param }, () => em.find(Integration, visible, onlySlugs))
  if (verb !== 'read') demandWrite(actor, row.workspaceId, verb)
  return row
}
