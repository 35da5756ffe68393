import type { KeyView } from '../../gateway/doors.ts'
import { sortHeaders } from '../../gateway/headers.ts'
import { findKey, type IdentifyDeps } from '../../gateway/identify.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Actor, Route } from '../route.ts'

/** Who calls the control plane, found as on the data plane. A key whose budget is used up still manages things. */
export async function authenticate(
  rawHeaders: readonly string[],
  prefixes: readonly string[],
  deps: Pick<IdentifyDeps, 'snapshot' | 'metrics'>,
): Promise<KeyView> {
  const { key } = await findKey(sortHeaders(rawHeaders, prefixes), deps)
  return key
}

/** A key as the actor that handlers see. */
export const toActor = (key: KeyView): Actor => ({
  type: 'api_key',
  id: key.id,
  name: key.name,
  keyType: key.type,
  organisationId: key.organisationId,
  workspaceId: key.workspaceId,
  userId: key.userId,
  role: key.role,
  settings: key.settings,
  permissions: key.scopes,
})

/** Throws AB03 with the scope that would do. */
export function demandPermission(actor: Actor, { permission }: Pick<Route, 'permission'>): void {
  const accepted = typeof permission === 'string' ? [permission] : permission
  if (accepted.some((scope) => actor.permissions.has(scope))) return
  throw new ApiError('AB03', `This API key lacks the scope ${accepted.join(' or ')}, which this request needs.`)
}
