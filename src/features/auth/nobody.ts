import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'

const none = '00000000-0000-0000-0000-000000000000'

/** A person who is not identified yet. No organisation has this id, so that their transaction sees no row of any. */
export const nobody = async (): Promise<Actor> => ({
  type: 'invite',
  id: none,
  name: null,
  keyType: 'workspace-user',
  organisationId: none,
  workspaceId: null,
  userId: null,
  role: null,
  settings: effectiveSettings({}, {}),
  permissions: new Set(),
})
