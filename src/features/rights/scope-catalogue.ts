import { accessOfSession, roles } from '../../lib/access/permission-matrix.ts'
import { scopeKind } from '../../lib/access/roles.ts'
import { scopePresets } from '../../lib/access/scope-presets.ts'
import { scopeReleases } from '../../lib/access/scopes.ts'
import type { Level } from '../../release/level.ts'
import { keyTypes, scopesOfType } from '../api-keys/index.ts'
import { scopesAt } from './rights.ts'

/** Returns the permission scopes of a release level as they are answered, by group, with the presets; `group` leaves only that group. */
export function presentScopes(level: Level, group?: string) {
  const scopes = scopesAt(level).filter((scope) => group === undefined || groupOf(scope) === group)
  const groups = Map.groupBy(scopes, groupOf)
  return {
    object: 'scope_catalogue' as const,
    groups: Array.from(groups, ([id, own]) => ({ id, title: titleOf(id), scopes: own.map(presentScope) })),
    presets: scopePresets.map(({ id, title, description, has }) => ({
      id,
      title,
      description,
      scopes: keyTypes.flatMap((type) => {
        const given = scopes.filter((scope) => scopesOfType(type).has(scope) && has(scope))
        return given.length === 0 ? [] : [{ key_type: type, scopes: given }]
      }),
    })),
  }
}

const groupOf = (scope: string): string => scope.slice(0, scope.indexOf('.'))

const presentScope = (scope: string) => ({
  scope,
  kind: scopeKind(scope),
  since: scopeReleases[scope] ?? null,
  key_types: keyTypes.filter((type) => scopesOfType(type).has(scope)),
  roles: Object.fromEntries(
    roles.map((role) => {
      const access = accessOfSession(role, { scopes: [scope], organisationKey: false, writes: false })
      return [role, typeof access === 'boolean' ? access : [...access]]
    }),
  ),
})

/** `workspace_user_api_keys` as `Workspace user API keys`. */
const titleOf = (resource: string): string => {
  const words = resource.replaceAll('_', ' ').replaceAll(/\b(?:api|mcp)\b/g, (word) => word.toUpperCase())
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
