import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'

/** Returns the rows of workspaces that a key may see: an organisation key all, a workspace key those of its own workspace. */
export const visibleTo = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { workspaceId: actor.workspaceId }),
})

/** Refuses with AB03 a field that names another organisation than the key's. */
export function demandOwnOrganisation(actor: Actor, organisationId: string | undefined): void {
  if (organisationId === undefined || organisationId.toLowerCase() === actor.organisationId) return
  throw new ApiError('AB03', 'A key acts in its own organisation only.', { param: 'organisation_id' })
}
