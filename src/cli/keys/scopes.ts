import { organisationScopes, userScopes, workspaceScopes } from '../../lib/access/scopes.ts'

const all: Readonly<Record<string, readonly string[]>> = {
  'organisation-service': organisationScopes,
  'workspace-service': workspaceScopes,
  'workspace-user': userScopes,
}

/** The scopes that a list names; `all`: everything that a key of the type can hold. A type that does not exist is for the API to refuse. */
export function scopesFor(type: string, list: string): readonly string[] {
  const scopes = list.split(',').flatMap((scope) => scope.trim() || [])
  return scopes.join() === 'all' ? (all[type] ?? scopes) : scopes
}
