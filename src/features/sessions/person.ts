import type { Actor, ActorSession, Route } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { roleIn, scopesOfRole, type OrganisationRole, type Role, type WorkspaceRole } from '../../lib/access/roles.ts'
import { isOrganisationScope, personScopes } from '../../lib/access/scopes.ts'
import { ApiError } from '../../lib/errors.ts'

/** A person with their places, as a session finds them. */
export interface Person {
  readonly userId: string
  readonly organisationId: string
  readonly email: string
  readonly role: OrganisationRole
  readonly settings: unknown
  readonly memberships: readonly Membership[]
  /** The one that was named, if it is in the organisation; else the person's default. Null: neither. */
  readonly workspace: { readonly id: string; readonly overrides: unknown } | null
}

export interface Membership {
  readonly workspaceId: string
  readonly role: WorkspaceRole
}

interface SessionUse {
  readonly route: Route
  /** The workspace that the request names. */
  readonly named: string | undefined
  readonly session: ActorSession
}

/** Returns how a person acts on a route. AB03 for a workspace of which the person is no member. */
export function actorOf(person: Person, acting: SessionUse): Actor {
  const { role, userId, organisationId } = person
  const place = placeOf(person, acting)
  const there = roleAt(person, place)
  const settings = effectiveSettings(person.settings, place?.overrides ?? {})
  return {
    type: 'user',
    id: userId,
    name: person.email,
    keyType: role === 'member' ? 'workspace-user' : 'organisation-service',
    organisationId,
    workspaceId: place?.id ?? null,
    userId,
    role: there,
    settings,
    permissions: scopesOfRole(personScopes(role), there, settings),
    session: acting.session,
  }
}

/**
 * Returns the workspace that bounds a request; null: none does. Owners and admins of the organisation act in all of it unless they name a workspace,
 * and on resources of the organisation even then.
 */
function placeOf(person: Person, { route, named }: SessionUse): Person['workspace'] {
  const { role, workspace } = person
  if (role !== 'member' && (named === undefined || isOfOrganisation(route))) return null
  if (named === undefined || (workspace !== null && roleAt(person, workspace) !== null)) return workspace
  throw new ApiError('AB03', `You have no role in a workspace "${named.slice(0, 255)}".`, { param: 'x-service-workspace' })
}

const roleAt = ({ role, memberships }: Person, place: Person['workspace']): Role | null =>
  roleIn(role, memberships.find(({ workspaceId }) => workspaceId === place?.id)?.role ?? null)

/** Returns true for a route about the organisation and not about one of its workspaces. */
const isOfOrganisation = ({ permission, audience }: Route): boolean =>
  audience === 'organisation' || [permission].flat().every(isOrganisationScope)

/** The places of the person `u` as JSON. */
export const membershipColumn = `
  (SELECT coalesce(json_agg(json_build_object('workspaceId', m.workspace_id, 'role', m.role)), '[]')
     FROM workspace_members m WHERE m.user_id = u.id)`
