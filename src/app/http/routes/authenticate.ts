import { isOn } from '../../../config/effect.ts'
import type { KeyView } from '../../../gateway/ports.ts'
import { type CallerHeaders, sortHeaders } from '../../../gateway/ports/headers.ts'
import { findKey, lacks, onlyReads, showsCredential, type IdentifyDeps } from '../../../gateway/ports/callers.ts'
import { ApiError } from '../../../lib/errors.ts'
import { tokenScopes } from '../../../lib/access/scopes.ts'
import type { AskedBy, Authenticator, KnownCaller } from '../../authenticator.ts'
import type { Deps } from '../../deps.ts'
import { callersOf, changesThings, type Actor, type CallerOf, type Route } from '../../route.ts'
import type { FrameServices } from '../frame.ts'

/** A request that wants a caller. */
export interface Admission extends Pick<AskedBy, 'route' | 'method' | 'headers' | 'clientAddress' | 'looksOnly'> {
  /** Sorted, with the prefixes of this installation. */
  readonly sorted: CallerHeaders
  readonly authenticators: readonly Authenticator[]
}

/**
 * Returns the caller by the first credential that the route takes and the request shows: a key before all others, since only a program that
 * has one sends it, while browsers send cookies unasked. Throws if there is none, or if its holder lacks the scope.
 */
export async function admit(asked: Admission, running: FrameServices): Promise<KnownCaller> {
  const { route, sorted, authenticators, clientAddress: address } = asked
  const kinds = callersOf(route)
  const byKey = async (): Promise<KnownCaller> => {
    demandKeys(running.deps, route)
    const { key } = await findKey(sorted, { ...running, metrics: running.deps.metrics, address })
    demandPermission(key, route)
    return { actor: toActor(key) }
  }
  if (kinds.includes('key') && showsCredential(sorted)) return byKey()
  const ownHeader = (name: string) => sorted.service.get(name)
  for (const authenticator of authenticators.filter(({ kind }) => kinds.includes(kind))) {
    const known = await authenticator.authenticate({ ...asked, ownHeader }, running.deps)
    if (known === null) continue
    demandRight(known.actor, route)
    return known
  }
  if (kinds.includes('key') && takesKeys(running.deps, route)) return byKey()
  throw new ApiError('AB05', 'There is no session here. Sign in first.')
}

const takesKeys = ({ config, level }: Pick<Deps, 'config' | 'level'>, { audience }: Pick<Route, 'audience'>): boolean =>
  audience === 'programs' || isOn('API_ACCESS_ENABLED', config, level)

/** Throws where keys and tokens serve for calls to models alone, before any fact about the shown one is revealed. */
function demandKeys(deps: Deps, route: Route): void {
  if (takesKeys(deps, route)) return
  throw new ApiError(
    'feature_unavailable',
    'API keys and tokens do not open the control plane here: API_ACCESS_ENABLED is OFF. Sign in instead.',
    { details: { feature: { id: null, flag: 'API_ACCESS_ENABLED', release: null } } },
  )
}

/** Returns the caller of the control plane, found as on the data plane. */
export async function authenticate(
  rawHeaders: readonly string[],
  prefixes: readonly string[],
  deps: Omit<IdentifyDeps, 'chosenKeys'>,
): Promise<KeyView> {
  const { key } = await findKey(sortHeaders(rawHeaders, prefixes), deps)
  return key
}

/** Returns the result; null when it is refused. Rejects while that cannot be decided. */
export const unlessRefused = async <Found>(find: () => Found | Promise<Found>): Promise<Found | null> => {
  try {
    return await find()
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return null
    throw error
  }
}

/** Finds the owner of a credential. Rejects while that cannot be decided. */
export const callerOf =
  ({ snapshot, tokens }: Pick<FrameServices, 'snapshot' | 'tokens'>): CallerOf =>
  async (secret) => {
    const key = await unlessRefused(() => (tokens.isToken(secret) ? tokens.caller(secret) : snapshot.key(secret)))
    return key === null || key.status === 'expired' || (key.expiresAt !== null && key.expiresAt <= Date.now()) ? null : key
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
  maker: key.maker ?? null,
  settings: key.settings,
  permissions: key.scopes,
})

/** Throws AB03 with the scope that a person, or a client that provisions people, lacks. */
function demandRight({ permissions, role, workspaceId }: Actor, { permission, audience }: Route): void {
  const accepted = [permission].flat()
  if (accepted.length === 0) return
  if (audience === 'organisation' && workspaceId !== null)
    throw new ApiError('AB03', 'Only owners and admins of the organisation may do this.')
  if (accepted.some((scope) => permissions.has(scope))) return
  const place = workspaceId === null ? 'the organisation' : 'this workspace'
  const who = role === null ? `You have no role in ${place}` : `Your role in ${place} is ${role}`
  throw new ApiError('AB03', `${who}, which does not give ${accepted.join(' or ')}. This request needs it.`)
}

/** Throws AB03 with the scope that would do, or for a key that is bound to a workspace and would leave it. */
export function demandPermission(key: KeyView, route: Route): void {
  const { permission, audience } = route
  const accepted = typeof permission === 'string' ? [permission] : permission
  const usable = key.token !== undefined && changesThings(route) ? accepted.filter((scope) => tokenScopes(false).has(scope)) : accepted
  if (usable.some((scope) => key.scopes.has(scope))) {
    if (audience !== 'organisation' || key.workspaceId === null) return
    throw new ApiError('AB03', 'A workspace key acts in its own workspace only. This needs an organisation key.')
  }
  if (accepted.some((scope) => key.scopes.has(scope))) throw onlyReads(key)
  const claimed = accepted.find((scope) => key.token?.scopes.includes(scope) === true) ?? accepted.join(' or ')
  throw lacks(key, claimed, {
    code: 'AB03',
    message: `This API key lacks the scope ${accepted.join(' or ')}, which this request needs.`,
  })
}
