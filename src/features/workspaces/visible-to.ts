import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'

/** What a key may see of a table whose rows belong to workspaces: an organisation key all, a workspace key its own workspace's. */
export const visibleTo = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { workspaceId: actor.workspaceId }),
})

/** Refuses with AB03 a field that names another organisation than the key's. */
export function demandOwnOrganisation(actor: Actor, organisationId: string | undefined): void {
  if (organisationId === undefined || organisationId.toLowerCase() === actor.organisationId) return
  throw new ApiError('AB03', 'A key acts in its own organisation only.', { param: 'organisation_id' })
}
