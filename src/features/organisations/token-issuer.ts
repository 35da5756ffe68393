import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { organisationScopes, scopeReleases, tokenScopes } from '../../lib/access/scopes.ts'
import type { Organisation } from './organisation.entity.ts'

type Settings = Readonly<Record<string, unknown>>

/**
 * Returns the new rank of the token issuer if a change of settings sets another issuer. Throws AB03 for a caller without the scopes that tokens may have: the
 * party that sets an issuer can sign a token with all of them.
 */
export function issuerChange(
  { actor, deps }: { readonly actor: Actor; readonly deps: Pick<Deps, 'level'> },
  before: Settings,
  after: Settings | undefined,
): Partial<Pick<Organisation, 'tokenIssuerRank'>> {
  if (after === undefined || isDeepStrictEqual(after['jwt'], before['jwt'])) return {}
  if (after['jwt'] !== null && after['jwt'] !== undefined) demandScopesOfTokens(actor, deps)
  return { tokenIssuerRank: rankOf(actor) }
}

/** Scopes that only keys of workspaces hold stand behind the right to make such keys. */
const needed = [...tokenScopes(true), 'workspace_service_api_keys.create'].filter((scope) => organisationScopes.includes(scope))

/** Scopes that a later release brings count from that on. */
function demandScopesOfTokens({ permissions }: Actor, { level }: Pick<Deps, 'level'>): void {
  const isThere = (scope: string) => scopeReleases[scope] === undefined || level.atLeast(scopeReleases[scope])
  const missing = needed.filter((scope) => !permissions.has(scope) && isThere(scope))
  if (missing.length === 0) return
  throw new ApiError('AB03', `Tokens of an issuer can hold scopes that this caller does not hold: ${missing.join(', ')}.`, {
    param: 'settings.jwt',
  })
}
