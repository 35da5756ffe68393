import { workspaceRoles, type WorkspaceRole } from '../../lib/access/roles.ts'

/** How the names of groups that give roles are made: `ws-Sales-role-admin`, `org-role-admin`. */
export interface GroupNames {
  readonly prefix: string
  readonly organisationPrefix: string
  readonly separator: string
}

/** The roles that the name of a group gives its members. */
export interface NamedRoles {
  /** The workspace by slug or name; null: none. */
  readonly workspace: { readonly named: string; readonly role: WorkspaceRole } | null
  readonly organisation: 'owner' | 'admin' | null
}

/** Returns the roles that a name gives. `anyCase`: the words around the name of the workspace count in any case. */
export function rolesInName(
  displayName: string,
  { prefix, organisationPrefix, separator }: GroupNames,
  { anyCase }: { readonly anyCase: boolean },
): NamedRoles {
  const fold = (text: string) => (anyCase ? text.toLowerCase() : text)
  const [name, middle] = [fold(displayName), fold(`${separator}role${separator}`)]
  const at = name.lastIndexOf(middle)
  const [before, role] = at === -1 ? ['', ''] : [displayName.slice(0, at), name.slice(at + middle.length)]
  const start = fold(prefix + separator)
  const workspaceRole = workspaceRoles.find((one) => one === role)
  const named = fold(before).startsWith(start) ? before.slice(start.length) : ''
  const isOrganisation = fold(before) === fold(organisationPrefix)
  return {
    workspace: workspaceRole === undefined || named === '' ? null : { named, role: workspaceRole },
    organisation: isOrganisation && (role === 'owner' || role === 'admin') ? role : null,
  }
}
