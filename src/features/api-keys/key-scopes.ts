import type { Actor } from '../../app/route.ts'
import type { KeyType } from '../../gateway/ports.ts'
import { ApiError } from '../../lib/errors.ts'
import { organisationScopes, userScopes, workspaceScopes } from '../../lib/access/scopes.ts'

const validScopes: Readonly<Record<KeyType, ReadonlySet<string>>> = {
  'organisation-service': new Set(organisationScopes),
  'workspace-service': new Set(workspaceScopes),
  'workspace-user': new Set(userScopes),
}

const scopeFamilies: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
}

type Verb = 'create' | 'read' | 'update' | 'delete' | 'list' | 'rotate'

/** The scope that a verb needs on keys of a type. */
export const keyScope = (type: KeyType, verb: Verb): string => `${scopeFamilies[type]}.${verb}`

export const keyTypes = ['organisation-service', 'workspace-service', 'workspace-user'] as const satisfies readonly KeyType[]

/** The scopes of a verb, one for each type of key. */
export const keyScopes = (verb: Verb): string[] => keyTypes.map((type) => keyScope(type, verb))

/** Returns the scopes that a key of a type can have. */
export const scopesOfType = (type: KeyType): ReadonlySet<string> => validScopes[type]

/** AB01 for scopes that a key of this type cannot have. */
export function checkScopesFit(type: KeyType, scopes: readonly string[]): void {
  const misfits = scopes.filter((scope) => !validScopes[type].has(scope))
  if (misfits.length > 0)
    throw new ApiError('AB01', `Scopes that a key of type ${type} cannot have: ${misfits.join(', ')}.`, { param: 'scopes' })
}

/**
 * AB03 for scopes that the caller cannot pass on: a caller cannot grant, or by rotating obtain, a scope that it does not hold. An organisation key
 * cannot hold scopes that exist only for workspace keys (`completions.write`), so that it may grant those.
 */
export function checkMayGrant(actor: Actor, scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !mayGrant(actor, scope))
  if (missing.length > 0) throw new ApiError('AB03', `This key does not hold ${missing.join(', ')}.`, { param: 'scopes' })
}

const mayGrant = (actor: Actor, scope: string): boolean =>
  actor.permissions.has(scope) || (actor.workspaceId === null && !validScopes['organisation-service'].has(scope))
