import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { byIdOrSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { demandScope, resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { GuardrailEntity } from './guardrail.entity.ts'

type Verb = 'create' | 'read' | 'update' | 'delete' | 'list'

/** The scopes of a verb: one for a workspace's guardrails, one for the organisation's. */
export const guardrailScopes = (verb: Verb): string[] => [`guardrails.${verb}`, `organisation_guardrails.${verb}`]

const scopeAt = (workspaceId: string | null | undefined, verb: Verb): string => `${workspaceId ? '' : 'organisation_'}guardrails.${verb}`

interface Home {
  readonly workspace_id?: string | undefined
  readonly organisation_id?: string | undefined
}

/** Returns the home of a new guardrail: a workspace, or null for the organisation. Refuses callers that may not create one there. */
export async function homeOfNew(
  em: EntityManager,
  actor: Actor,
  { workspace_id: workspace, organisation_id: organisation }: Home,
): Promise<string | null> {
  demandOwn(actor, organisation)
  const inWorkspace = workspace !== undefined || actor.workspaceId !== null
  if (inWorkspace && organisation !== undefined && workspace === undefined)
    throw new ApiError('AB03', "The organisation's guardrails are made with an organisation key.", { param: 'organisation_id' })
  const workspaceId = inWorkspace ? (await resolveWorkspace(em, actor, workspace)).id : null
  demandScope(actor, scopeAt(workspaceId, 'create'))
  return workspaceId
}

function demandOwn(actor: Actor, organisation: string | undefined): void {
  if (organisation !== undefined && organisation.toLowerCase() !== actor.organisationId)
    throw new ApiError('AB03', 'A key acts in its own organisation only.', { param: 'organisation_id' })
}

/** Returns the filter of a list: one workspace, or all that the caller's scopes allow; with `organisation_id` alone those of the organisation. */
export async function listed(
  em: EntityManager,
  actor: Actor,
  { workspace_id: workspace, organisation_id: organisation, status }: Home & { readonly status: GuardrailEntity['status'] },
): Promise<FilterQuery<GuardrailEntity>> {
  demandOwn(actor, organisation)
  const live = { organisationId: actor.organisationId, status } as const
  const workspaceId = await workspaceFilter(em, actor, workspace)
  if (workspaceId !== null) {
    demandScope(actor, scopeAt(workspaceId, 'list'))
    return { ...live, workspaceId }
  }
  const both = [
    ...(actor.permissions.has('organisation_guardrails.list') ? [{ workspaceId: null }] : []),
    ...(actor.permissions.has('guardrails.list') && organisation === undefined ? [{ workspaceId: { $ne: null } }] : []),
  ]
  if (both.length === 0) demandScope(actor, scopeAt(null, 'list'))
  return { ...live, $or: both }
}

interface GuardrailQuery {
  readonly reference: string
  /** The field that names it, when it is not the path. */
  readonly param?: string
  readonly verb: 'read' | 'update' | 'delete'
  /** The workspace that the caller names as its own. */
  readonly workspace?: string | undefined
}

/** A guardrail that the caller may see, with the scope for the verb checked; AB08 otherwise. Locked when it is about to change. */
export async function findGuardrail(
  em: EntityManager,
  actor: Actor,
  { reference, param = 'guardrailId', verb, workspace }: GuardrailQuery,
): Promise<GuardrailEntity> {
  const workspaceId = workspace === undefined ? actor.workspaceId : (await resolveWorkspace(em, actor, workspace)).id
  const own = workspaceId === null ? {} : { workspaceId }
  const visible = { organisationId: actor.organisationId, status: 'active' as const, ...own }
  const lock = verb === 'read' ? {} : { lockMode: LockMode.PESSIMISTIC_WRITE }
  const found = await em.findOne(GuardrailEntity, { $and: [byIdOrSlug(reference), visible] }, lock)
  const row = await orMeant(found, { noun: 'guardrail', reference, param }, () => em.find(GuardrailEntity, visible, onlySlugs))
  demandScope(actor, scopeAt(row.workspaceId, verb))
  return row
}
