import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { isAtLeast, type Role } from '../../lib/access/roles.ts'
import { Workspace } from './workspace.entity.ts'

/** Refuses with AB03 an action for which the key has no scope. Only needed where the scope depends on the data. */
export function demandScope(actor: Actor, scope: string): void {
  if (!actor.permissions.has(scope)) throw new ApiError('AB03', `This key lacks the scope ${scope}.`)
}

/** Refuses with AB03 a caller that would give, take or change a role above their own. */
export function demandRank(actor: Actor, role: Role, param: string): void {
  if (!isAtLeast(rankOf(actor), role)) throw new ApiError('AB03', `You cannot give or take a role above your own: ${role}.`, { param })
}

/**
 * The workspace that a call is about. A workspace key is bound to its own: naming another is AB03. An organisation key names
 * one by UUID or slug; without a name it is the default workspace.
 */
export async function resolveWorkspace(em: EntityManager, actor: Actor, reference: string | undefined): Promise<Workspace> {
  const wanted = reference === undefined ? ownOrDefault(actor) : byIdOrSlug(reference)
  const workspace = await em.findOne(Workspace, { ...wanted, organisationId: actor.organisationId, status: 'active' })
  if (actor.workspaceId !== null && workspace?.id !== actor.workspaceId) {
    throw new ApiError('AB03', 'A workspace key acts in its own workspace only.', { param: 'workspace_id' })
  }
  if (workspace === null) throw missing(reference)
  return workspace
}

const ownOrDefault = (actor: Actor) => (actor.workspaceId === null ? { isDefault: true } : { id: actor.workspaceId })

function missing(reference: string | undefined): ApiError {
  if (reference !== undefined) return new ApiError('AB08', `There is no workspace "${reference.slice(0, 255)}".`, { param: 'workspace_id' })
  return new ApiError('AB01', 'There is no default workspace: give workspace_id.', { param: 'workspace_id' })
}

/** The workspace that limits a list: the key's own, the one asked for, or none (null) for an organisation key that names none. */
export async function workspaceFilter(em: EntityManager, actor: Actor, reference: string | undefined): Promise<string | null> {
  if (actor.workspaceId === null && reference === undefined) return null
  return (await resolveWorkspace(em, actor, reference)).id
}

interface WorkspaceQuery {
  readonly reference: string
  /** The field that named it; by default a path's `workspaceId`. */
  readonly param?: string
  readonly status?: Workspace['status']
  /** Locks the row, because it is about to change, or because something is about to depend on it. */
  readonly lock?: boolean
}

/** A workspace of a path that the caller may see; AB08 otherwise. */
export async function findWorkspace(
  em: EntityManager,
  actor: Actor,
  { reference, param = 'workspaceId', status = 'active', lock = false }: WorkspaceQuery,
): Promise<Workspace> {
  const visible = { ...visibleWorkspaces(actor), status }
  const where = { $and: [byIdOrSlug(reference), visible] }
  const row = await em.findOne(Workspace, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orMeant(row, { noun: 'workspace', reference, param }, () => em.find(Workspace, visible, onlySlugs))
}

type NamedWorkspace = Pick<WorkspaceQuery, 'reference' | 'param'>

/** Returns the items of a body that name workspaces, each with its active workspace, by one query for all. AB08 for the first that the caller may not see. */
export async function findWorkspaces<T extends NamedWorkspace>(
  em: EntityManager,
  actor: Actor,
  named: readonly T[],
): Promise<readonly (T & { readonly workspace: Workspace })[]> {
  if (named.length === 0) return []
  const known = { $or: named.map(({ reference }) => byIdOrSlug(reference)) }
  const rows = await em.find(Workspace, { $and: [known, visibleWorkspaces(actor), { status: 'active' }] })
  const byName = new Map(rows.flatMap((row) => [{ id: row.id }, { slug: row.slug }].map((name) => [JSON.stringify(name), row] as const)))
  const found: (T & { readonly workspace: Workspace })[] = []
  for (const one of named) {
    // The look-up of a missing one tells the caller which was meant.
    const workspace = byName.get(JSON.stringify(byIdOrSlug(one.reference))) ?? (await findWorkspace(em, actor, one))
    found.push({ ...one, workspace })
  }
  return found
}

/** A workspace key sees its own workspace, an organisation key all. */
export const visibleWorkspaces = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { id: actor.workspaceId }),
})

/** Returns a workspace that the caller may see, an archived one too, by id or slug; null: there is none. */
export const findEvenArchived = (em: EntityManager, actor: Actor, reference: string): Promise<Workspace | null> =>
  em.findOne(Workspace, { $and: [byIdOrSlug(reference), visibleWorkspaces(actor)] }, { orderBy: { status: 'asc' } })
