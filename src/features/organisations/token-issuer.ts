import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { organisationScopes, scopeReleases, tokenScopes } from '../../lib/access/scopes.ts'

/** Scopes that only keys of workspaces hold stand behind the right to make such keys. */
const needed = [...tokenScopes(true), 'workspace_service_api_keys.create'].filter((scope) => organisationScopes.includes(scope))

/**
 * Throws AB03 for a caller without the scopes that tokens may have: the party that sets an issuer can sign a token with all of them.
 * Scopes that a later release brings count from that on.
 */
export function demandScopesOfTokens({ permissions }: Actor, atLeast: (release: string) => boolean): void {
  const missing = needed.filter((scope) => !permissions.has(scope) && atLeast(scopeReleases[scope] ?? '1.3.0'))
  if (missing.length === 0) return
  throw new ApiError('AB03', `Tokens of an issuer can hold scopes that this caller does not hold: ${missing.join(', ')}.`, {
    param: 'settings.jwt',
  })
}
