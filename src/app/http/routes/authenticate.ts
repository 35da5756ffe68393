import type { KeyView } from '../../../gateway/ports.ts'
import { sortHeaders } from '../../../gateway/wire/headers.ts'
import { findKey, lacks, onlyReads, type IdentifyDeps } from '../../../gateway/callers/identify.ts'
import { ApiError } from '../../../lib/errors.ts'
import { tokenScopes } from '../../../lib/access/scopes.ts'
import { changesThings, type Actor, type CallerOf, type Route } from '../../route.ts'
import type { Running } from '../frame.ts'

/** Returns the caller of the control plane, found as on the data plane. */
export async function authenticate(
  rawHeaders: readonly string[],
  prefixes: readonly string[],
  deps: Omit<IdentifyDeps, 'chosenKeys'>,
): Promise<KeyView> {
  const { key } = await findKey(sortHeaders(rawHeaders, prefixes), deps)
  return key
}

/** Finds whose credential a text is. Rejects while that cannot be told. */
export const callerOf =
  ({ snapshot, tokens }: Pick<Running, 'snapshot' | 'tokens'>): CallerOf =>
  async (secret) => {
    try {
      const key = await (tokens.isToken(secret) ? tokens.caller(secret) : snapshot.key(secret))
      return key === null || key.status === 'expired' || (key.expiresAt !== null && key.expiresAt <= Date.now()) ? null : key
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return null
      throw error
    }
  }

/** A key as the actor that handlers see. */
export const toActor = (key: KeyView): Actor => ({
  type: key.token === undefined ? 'api_key' : 'user',
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

/** Throws AB03 with the scope that would do, or for a key that is bound to a workspace and would leave it. */
export function demandPermission(key: KeyView, route: Route): void {
  const { permission, organisationKey } = route
  const accepted = typeof permission === 'string' ? [permission] : permission
  const usable = key.token !== undefined && changesThings(route) ? accepted.filter((scope) => tokenScopes(false).has(scope)) : accepted
  if (usable.some((scope) => key.scopes.has(scope))) {
    if (organisationKey !== true || key.workspaceId === null) return
    throw new ApiError('AB03', 'A workspace key acts in its own workspace only. This needs an organisation key.')
  }
  if (accepted.some((scope) => key.scopes.has(scope))) throw onlyReads(key)
  const claimed = accepted.find((scope) => key.token?.scopes.includes(scope) === true) ?? accepted.join(' or ')
  throw lacks(key, claimed, {
    code: 'AB03',
    message: `This API key lacks the scope ${accepted.join(' or ')}, which this request needs.`,
  })
}
