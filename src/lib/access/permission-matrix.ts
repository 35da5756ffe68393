import type { AccessSetting } from './access-settings.ts'
import { grantOf, type Grant, type Role } from './roles.ts'
import { organisationScopes, personScopes, tokenScopes, userScopes, workspaceScopes } from './scopes.ts'

/** The credentials of a person with a role, beside their session: a key, or a token. */
type PersonCredential = 'user key' | 'token'
type ServiceKey = 'admin key' | 'workspace key'

/** Every role, the highest first. */
export const roles = ['owner', 'organisation-admin', 'admin', 'manager', 'member'] as const satisfies readonly Role[]

/** The most that a credential with every scope of its kind is granted: always, never, or while one of these settings is on. */
export type Access = boolean | readonly AccessSetting[]

const held: Readonly<Record<ServiceKey | PersonCredential, ReadonlySet<string>>> = {
  'admin key': new Set(organisationScopes),
  'workspace key': new Set(workspaceScopes),
  'user key': new Set(userScopes),
  token: tokenScopes(true),
}

/** The demands of a route on its caller. */
export interface RouteDemands {
  /** Any one is enough. */
  readonly scopes: readonly string[]
  /** True if only an admin key may call it, even if another credential holds the scope. */
  readonly organisationKey: boolean
  /** True if it changes something. A token may change something only by calling models. */
  readonly writes: boolean
}

/** Returns true if a service key can hold one of the scopes. */
export const accessOfService = (caller: ServiceKey, { scopes, organisationKey }: RouteDemands): boolean =>
  !(organisationKey && caller === 'workspace key') && scopes.some((scope) => held[caller].has(scope))

/** Returns the access of a person by key or token: the scopes that the credential can hold, as far as the role is granted them. */
export function accessOf(caller: PersonCredential, role: Role, { scopes, organisationKey, writes }: RouteDemands): Access {
  if (organisationKey) return false
  const holds = caller === 'token' && writes ? tokenScopes(false) : held[caller]
  return grantedOf(
    role,
    scopes.filter((scope) => holds.has(scope)),
  )
}

/** Returns the access of a person who signed in: the scopes of their place, as far as their role is granted them. */
export function accessOfSession(role: Role, { scopes, organisationKey }: RouteDemands): Access {
  const place = role === 'owner' ? 'owner' : role === 'organisation-admin' ? 'admin' : 'member'
  if (scopes.length === 0) return true
  if (organisationKey && place === 'member') return false
  const holds = new Set(personScopes(place))
  return grantedOf(
    role,
    scopes.filter((scope) => holds.has(scope)),
  )
}

function grantedOf(role: Role, scopes: readonly string[]): Access {
  const grants: readonly Grant[] = scopes.map((scope) => grantOf(role, scope))
  if (grants.includes(true)) return true
  const settings = grants.flatMap((grant) => (typeof grant === 'boolean' ? [] : grant))
  return settings.length === 0 ? false : [...new Set(settings)]
}
