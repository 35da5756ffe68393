import { hash } from 'node:crypto'
import { scopesOfRole } from '../../../lib/access/roles.ts'
import { tokenScopes } from '../../../lib/access/scopes.ts'
import type { KeyView, RequestDefaults } from '../key.ts'
import { joinLimits } from '../../limits/written-limits.ts'
import type { TokenHolder } from './token-source.ts'
import type { TokenClaims } from './token-claims.ts'
import { limitsOfHolder } from './token-limits.ts'
import { tokenFault } from './verify-token.ts'

const none: RequestDefaults = { config: null, configLocked: false, inputGuardrails: [], outputGuardrails: [] }

/**
 * The caller behind a token, as a workspace key of its holder: never more than that, even if the token claims more. A person unknown to the
 * organisation is a member; a person who was removed, or is not in the workspace, is refused with `forbidden`.
 */
export function toKeyView(claims: TokenClaims, holder: TokenHolder, { reads }: { readonly reads: boolean }): KeyView {
  const { person, settings, conflict } = holder
  if (conflict !== null)
    throw tokenFault(
      `${conflict}. An admin can clear who the user is with PUT /v1/admin/users/{userId}, or set settings.jwt.holder.`,
      'forbidden',
    )
  if (person?.removed === true) throw tokenFault(`${claims.holder} was removed from the organisation.`, 'forbidden')
  if (person?.isAbove === true)
    throw tokenFault(
      `${claims.holder} ranks above the caller that set settings.jwt. An owner who is signed in may set it again, for all.`,
      'forbidden',
    )
  const role = person === null ? 'member' : person.role
  if (role === null) throw tokenFault(`${claims.holder} is not a member of the workspace ${holder.workspaceSlug}.`, 'forbidden')
  const scopes = claims.scopes.filter((scope) => tokenScopes(reads).has(scope))
  const id = tokenId(claims, holder)
  return {
    id,
    type: 'workspace-user',
    name: claims.holder,
    organisationId: holder.organisationId,
    workspaceId: holder.workspaceId,
    workspaceSlug: holder.workspaceSlug,
    userId: person?.userId ?? null,
    role,
    scopes: scopesOfRole(scopes, role, settings),
    settings,
    allowedHosts: holder.allowedHosts,
    expiresAt: null,
    status: 'active',
    metadata: { ...holder.metadata, ...claims.metadata },
    defaults: defaultsOf(claims, holder),
    limits: joinLimits([limitsOfHolder(claims.limits, { id, organisationId: holder.organisationId }), holder.limits]),
    token: claims,
  }
}

function defaultsOf({ config, configLocked }: TokenClaims, { defaults }: TokenHolder): RequestDefaults | null {
  if (config === null && !configLocked) return defaults
  return { ...(defaults ?? none), config: config ?? defaults?.config ?? null, configLocked }
}

/** One id for all tokens of a holder in a workspace, so that logs can be found by it: a UUID of version 8, made of the holder's identity. */
function tokenId({ issuer, holder }: TokenClaims, { workspaceId }: TokenHolder): string {
  const hex = hash('sha256', JSON.stringify(['token', workspaceId, issuer, holder]))
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
