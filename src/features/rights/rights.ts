import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import type { ActingPerson, Decision } from '../../lib/access/decisions.ts'
import { roleIn, seesOwnDataOnly } from '../../lib/access/roles.ts'
import { isOrganisationScope, personScopes, scopeReleases } from '../../lib/access/scopes.ts'
import type { Level } from '../../release/level.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import type { User } from '../users/user.entity.ts'
import { findWorkspace } from '../workspaces/index.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'

/** Returns every scope that there is at a level, or the one that is asked for. */
export const scopesAt = (level: Level, asked?: string): readonly string[] =>
  personScopes('owner').filter((scope) => level.atLeast(scopeReleases[scope] ?? '0.0.0') && (asked === undefined || scope === asked))

/**
 * Returns the workspace in which rights are asked for: the one that is named, or the person's default as a session has it; null: the
 * organisation as a whole. AB08 for one that the caller does not see, or for a person who is not in the caller's own.
 */
export async function placeAskedFor(
  em: EntityManager,
  actor: Actor,
  { user, workspace: reference }: { readonly user: User; readonly workspace: string | undefined },
): Promise<Workspace | null> {
  const found = reference === undefined ? null : await findWorkspace(em, actor, { reference, param: 'workspace' })
  if (actor.workspaceId !== null && (await em.count(WorkspaceMember, { workspaceId: actor.workspaceId, userId: user.id })) === 0)
    throw notFound('user', user.id, 'userId')
  return found ?? (user.role === 'member' ? defaultOf(em, user) : null)
}

/** The default workspace if the person is in it, else the one that they joined first. */
async function defaultOf(em: EntityManager, { id, organisationId }: User): Promise<Workspace | null> {
  const members = await em.find(WorkspaceMember, { userId: id }, { orderBy: { createdAt: 'asc', workspaceId: 'asc' } })
  const places = await em.find(Workspace, { organisationId, status: 'active', id: { $in: members.map(({ workspaceId }) => workspaceId) } })
  const first = members.flatMap(({ workspaceId }) => places.filter(({ id: placeId }) => placeId === workspaceId))
  return places.find(({ isDefault }) => isDefault) ?? first[0] ?? null
}

/** Returns how a person acts in a workspace; null: in the organisation as a whole. */
export async function actingOf(em: EntityManager, user: User, workspace: Workspace | null): Promise<ActingPerson> {
  const { settings } = await em.findOneOrFail(Organisation, { id: user.organisationId })
  const member = workspace && (await em.findOne(WorkspaceMember, { workspaceId: workspace.id, userId: user.id }))
  return {
    role: roleIn(user.role, member?.role ?? null),
    holds: new Set(personScopes(user.role)),
    settings,
    overrides: workspace?.accessOverrides ?? {},
  }
}

/** A decision as it is answered. */
export const presentDecision = (decision: Decision, reason: string) => ({
  scope: decision.scope,
  allowed: decision.allowed,
  decided_by: decision.decidedBy,
  settings: decision.settings.map((setting) => ({ ...setting })),
  reason,
})

/** Returns in words why a person has a scope or not. */
export function reasonOf({ scope, allowed, settings }: Decision, { role, holds }: ActingPerson): string {
  if (role === null) return 'Without a role in the workspace there are no rights in it.'
  if (!holds.has(scope) && isOrganisationScope(scope)) return 'Only owners and admins of the organisation have scopes on it.'
  if (settings.length === 0) return `The role ${role} ${allowed ? 'gives' : 'does not give'} it.`
  return `${settings.map(({ name, value, source }) => `${name} is ${value ? 'on' : 'off'} ${sources[source]}`).join(', and ')}.`
}

const sources = { default: 'by default', organisation: 'in the organisation', workspace: 'in this workspace' } as const

/** Returns true if a person sees only the logs and analytics of their own keys. */
export const ownDataOnly = ({ role, settings, overrides }: ActingPerson): boolean =>
  seesOwnDataOnly(role, effectiveSettings(settings, overrides))
