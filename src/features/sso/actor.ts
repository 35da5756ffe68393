import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'

/** Returns somebody who is only known by what an identity provider says: they may do nothing else. */
export const actorOf = (organisationId: string, who: Pick<Actor, 'type' | 'id' | 'name'>): Actor => ({
  ...who,
  keyType: 'workspace-user',
  organisationId,
  workspaceId: null,
  userId: null,
  role: null,
  settings: effectiveSettings({}, {}),
  permissions: new Set(),
})
