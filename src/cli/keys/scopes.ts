import { organisationScopes, scopeReleases, userScopes, workspaceScopes } from '../../lib/access/scopes.ts'
import type { Level } from '../../release/level.ts'

const all: Readonly<Record<string, readonly string[]>> = {
  'organisation-service': organisationScopes,
  'workspace-service': workspaceScopes,
  'workspace-user': userScopes,
}

/** Returns the scopes that a list names. `all` means every scope that a key of the type can hold at this level. The API refuses unknown types. */
export function scopesFor(type: string, list: string, level: Level): readonly string[] {
  const scopes = list.split(',').flatMap((scope) => scope.trim() || [])
  if (scopes.join() !== 'all') return scopes
  return all[type]?.filter((scope) => level.atLeast(scopeReleases[scope] ?? '0.0.0')) ?? scopes
}
