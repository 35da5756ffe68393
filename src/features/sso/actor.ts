import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'

/**
 * Returns the actor for a person of whom only the identity provider's claims are known: they may do nothing else. `userId`: the person, if that is
 * known.
 */
export const actorOf = (organisationId: string, who: Pick<Actor, 'type' | 'id' | 'name'> & Partial<Pick<Actor, 'userId'>>): Actor => ({
  userId: null,
  ...who,
  keyType: 'workspace-user',
  organisationId,
  workspaceId: null,
  role: null,
  settings: effectiveSettings({}, {}),
  permissions: new Set(),
})
