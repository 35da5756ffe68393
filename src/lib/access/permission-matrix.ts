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

/** What is asked for. */
export interface Asked {
  /** Any one is enough. */
  readonly scopes: readonly string[]
  /** Whether only an admin key may, whatever else holds the scope. */
  readonly organisationKey: boolean
  /** Whether it changes something: a token does so only where it calls models. */
  readonly writes: boolean
}

/** What a service key may do: what it can hold. */
export const accessOfService = (caller: 'admin key' | 'workspace key', { scopes, organisationKey }: Asked): boolean =>
  !(organisationKey && caller === 'workspace key') && scopes.some((scope) => held[caller].has(scope))

/** What a person may do with a key or a token: what that can hold, and their role is granted. */
export function accessOf(caller: 'user key' | 'token', role: Role, { scopes, organisationKey, writes }: Asked): Access {
  if (organisationKey) return false
  const holds = caller === 'token' && writes ? tokenScopes(false) : held[caller]
  const grants: readonly Grant[] = scopes.filter((scope) => holds.has(scope)).map((scope) => grantOf(role, scope))
  if (grants.includes(true)) return true
  const settings = grants.flatMap((grant) => (typeof grant === 'boolean' ? [] : grant))
  return settings.length === 0 ? false : [...new Set(settings)]
}
