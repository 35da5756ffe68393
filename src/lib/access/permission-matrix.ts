import type { AccessSetting } from './access-settings.ts'
import { grantOf, type Grant, type Role } from './roles.ts'
import { organisationScopes, tokenScopes, userScopes, workspaceScopes } from './scopes.ts'

/** Whoever shows a credential: a service key, or a person with a role, by a key or by a token. */
export const callers = ['admin key', 'workspace key', 'user key', 'token'] as const
export type Caller = (typeof callers)[number]

/** Every role, the highest first. */
export const roles = ['owner', 'organisation-admin', 'admin', 'manager', 'member'] as const satisfies readonly Role[]

/** The most that a credential with every scope of its kind is granted: always, never, or while one of these settings is on. */
export type Access = boolean | readonly AccessSetting[]

const held: Readonly<Record<Caller, ReadonlySet<string>>> = {
  'admin key': new Set(organisationScopes),
  'workspace key': new Set(workspaceScopes),
  'user key': new Set(userScopes),
  token: tokenScopes(true),
}

/** The demands of a route on its caller. */
export interface Asked {
  /** Any one is enough. */
  readonly scopes: readonly string[]
  /** True if only an admin key may call it, even if another credential holds the scope. */
  readonly organisationKey: boolean
  /** True if it changes something. A token may change something only by calling models. */
  readonly writes: boolean
}

/** Returns true if a service key can hold one of the scopes. */
export const accessOfService = (caller: 'admin key' | 'workspace key', { scopes, organisationKey }: Asked): boolean =>
  !(organisationKey && caller === 'workspace key') && scopes.some((scope) => held[caller].has(scope))

/** Returns the access of a person by key or token: the scopes that the credential can hold, as far as the role is granted them. */
export function accessOf(caller: 'user key' | 'token', role: Role, { scopes, organisationKey, writes }: Asked): Access {
  if (organisationKey) return false
  const holds = caller === 'token' && writes ? tokenScopes(false) : held[caller]
  const grants: readonly Grant[] = scopes.filter((scope) => holds.has(scope)).map((scope) => grantOf(role, scope))
  if (grants.includes(true)) return true
  const settings = grants.flatMap((grant) => (typeof grant === 'boolean' ? [] : grant))
  return settings.length === 0 ? false : [...new Set(settings)]
}
