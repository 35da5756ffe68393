import { useParams } from '@tanstack/react-router'
import { useMe, type Me, type Place } from './session.tsx'

/** The place in which a page shows things: a workspace, or the organisation. */
export interface Scope {
  readonly kind: 'workspace' | 'organisation'
  readonly slug: string
  readonly name: string
  /** The rights of the person there. */
  readonly scopes: readonly string[]
  /** The workspace for requests; undefined: the organisation. */
  readonly workspace: string | undefined
  readonly role: string
  readonly settings: Readonly<Record<string, boolean>>
  /** The features that are on in this installation. */
  readonly features: readonly string[]
}

export const organisationScope = (me: Me): Scope => ({
  kind: 'organisation',
  slug: me.organisation.slug,
  name: me.organisation.name,
  scopes: me.scopes,
  workspace: undefined,
  role: me.user.role,
  settings: me.settings,
  features: me.installation.features,
})

export const workspaceScope = ({ installation }: Me, { slug, name, scopes, role, settings }: Place): Scope => ({
  kind: 'workspace',
  slug,
  name,
  scopes,
  workspace: slug,
  role,
  settings,
  features: installation.features,
})

/** Returns the scope of the address; null: the workspace does not exist, or the person has no place in it. */
export function useScope(): Scope | null {
  const me = useMe()
  const { workspace: slug } = useParams({ strict: false }) as { workspace?: string }
  if (slug === undefined) return organisationScope(me)
  const place = me.workspaces.find((one) => one.slug === slug)
  return place === undefined ? null : workspaceScope(me, place)
}

export const may = (scope: Pick<Scope, 'scopes'>, right: string): boolean => scope.scopes.includes(right)
