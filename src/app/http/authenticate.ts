import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { ApiError } from '../../lib/errors.ts'
import type { KeyView } from '../../gateway/doors.ts'
import { sortHeaders, type CallerHeaders } from '../../gateway/headers.ts'
import { bearerToken } from '../../gateway/identify.ts'
import type { Actor, Route } from '../route.ts'

type FindKey = (secret: string) => MaybePromise<KeyView | null>

/** What SDKs send when they were given no key. */
const placeholder = 'DUMMY-KEY'

/**
 * Who calls the control plane: the key in `x-service-api-key` (or an alias), else in `Authorization: Bearer`, `x-api-key`, `api-key`.
 * Throws `unauthorized` or `expired_key`. A key whose budget is used up still manages things.
 */
export async function authenticate(rawHeaders: readonly string[], prefixes: readonly string[], findKey: FindKey): Promise<KeyView> {
  const secrets = candidates(sortHeaders(rawHeaders, prefixes))
  if (secrets.length === 0) {
    throw new ApiError('unauthorized', 'No API key was sent. Put it in x-service-api-key, or in Authorization: Bearer.', {
      param: 'x-service-api-key',
    })
  }
  for (const secret of secrets) {
    const key = await findKey(secret)
    if (key !== null) return unexpired(key)
  }
  throw new ApiError('unauthorized', 'The API key is not known here, or it was revoked.', { param: 'x-service-api-key' })
}

function candidates({ service, keys }: CallerHeaders): readonly string[] {
  const own = service.get('api-key')
  if (isPresent(own)) return [own]
  return [bearerToken(keys.authorization), keys['x-api-key'], keys['api-key']].filter(isPresent)
}

const isPresent = (value: string | undefined): value is string => value !== undefined && value !== '' && value !== placeholder

function unexpired(key: KeyView): KeyView {
  if (key.status !== 'expired' && (key.expiresAt === null || key.expiresAt > Date.now())) return key
  throw new ApiError('expired_key', 'The API key has expired. Rotate it, or ask for a new one.', { param: 'x-service-api-key' })
}

/** A key as the actor that handlers see. */
export const toActor = (key: KeyView): Actor => ({
  type: 'api_key',
  id: key.id,
  keyType: key.type,
  organisationId: key.organisationId,
  workspaceId: key.workspaceId,
  userId: key.userId,
  permissions: key.scopes,
})

/** Throws AB03 with the scope that would do. */
export function demandPermission(actor: Actor, { permission }: Pick<Route, 'permission'>): void {
  const accepted = typeof permission === 'string' ? [permission] : permission
  if (accepted.some((scope) => actor.permissions.has(scope))) return
  throw new ApiError('AB03', `This API key lacks the scope ${accepted.join(' or ')}, which this request needs.`)
}
