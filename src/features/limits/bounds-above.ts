import type { EntityManager } from '@mikro-orm/postgresql'
import { findLimits, type LimitScope, type OwnedLimit, presentOwned } from './limited-rows.ts'
import { standingsOf } from './standing.ts'
import { isShownGroup } from './shown-groups.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { groupsOf } from '../../gateway/ports/limits.ts'

/** A key or a provider, with the facts that limits above it depend on. */
export interface BoundedResource extends LimitScope {
  /** The names by which conditions of policies match it, but for those of its workspace: `{"api_key": [id]}`. */
  readonly names: Readonly<Record<string, readonly string[]>>
  /** The groups of policies that the caller may see; null: all. */
  readonly own: readonly string[] | null
  /** The access of its workspace to its integration; null: it has no integration. */
  readonly integrationId: string | null
}

interface PolicyRow {
  readonly id: string
  readonly conditions: readonly {
    readonly key: string
    readonly value: string | readonly string[]
    readonly excludes?: string | readonly string[]
  }[]
}

/** Returns the limits that bound a key or a provider beside its own, the tightest first. */
export async function boundsAbove(em: EntityManager, bounded: BoundedResource) {
  if (bounded.workspaceId === null) return []
  const all = await findLimits(em, bounded)
  const names = await allNames(em, bounded)
  const policies = await policiesOn(em, { ...bounded, names }, all)
  const grant = await grantOf(em, bounded)
  const above = all.flatMap((one) => {
    const { owner } = one
    if (owner.kind === 'policy')
      return policies.has(owner.id) && isOwnGroup(one, names) && isShownGroup(bounded.own, one.group)
        ? [{ one, conditional: policies.get(owner.id) ?? false }]
        : []
    return owner.kind === 'workspace' || (owner.kind === 'integration-workspace' && owner.id === grant) ? [{ one, conditional: false }] : []
  })
  const standings = await standingsOf(
    em,
    above.map(({ one }) => one.limit),
  )
  return above
    .flatMap(({ one, conditional }) => {
      const standing = standings.get(one.limit.id)
      return standing === undefined ? [] : [{ ...presentOwned(one), ...standing, conditional }]
    })
    .toSorted((one, other) => leftOf(one) - leftOf(other))
}

/** The share that is left. */
const leftOf = ({ spent, limit }: { readonly spent: number; readonly limit: number }): number => (limit === 0 ? 0 : 1 - spent / limit)

/** Returns the names of its workspace and its organisation too. */
async function allNames(em: EntityManager, { organisationId, workspaceId, names }: BoundedResource): Promise<BoundedResource['names']> {
  const [row] = await em.execute<{ slug: string }[]>('SELECT slug FROM workspaces WHERE organisation_id = ? AND id = ?', [
    organisationId,
    workspaceId,
  ])
  return { ...names, organisation_id: [organisationId], workspace_id: [workspaceId ?? '', row?.slug ?? ''] }
}

/** Returns the policies that requests of a key or a provider can meet; true: only some of them do. */
async function policiesOn(em: EntityManager, { organisationId, workspaceId, names }: BoundedResource, limits: readonly OwnedLimit[]) {
  const found = new Map<string, boolean>()
  if (!limits.some(({ owner }) => owner.kind === 'policy')) return found
  const rows = await em.execute<PolicyRow[]>(
    `SELECT id, conditions FROM usage_limit_policies WHERE organisation_id = ? AND workspace_id = ? AND status = 'active'
     UNION ALL SELECT id, conditions FROM rate_limit_policies WHERE organisation_id = ? AND workspace_id = ? AND status = 'active'`,
    [organisationId, workspaceId, organisationId, workspaceId],
  )
  for (const { id, conditions } of rows) {
    const own = conditions.filter(({ key }) => Object.hasOwn(names, key))
    if (
      own.every(
        ({ key, value, excludes }) => isAmong(listed(value), names[key] ?? []) && !isAmong(listed(excludes ?? []), names[key] ?? []),
      )
    )
      found.set(id, own.length < conditions.length)
  }
  return found
}

/** Ids may be stored in capital letters. */
const listed = (values: string | readonly string[]): readonly string[] => (typeof values === 'string' ? [values] : values).map(toReference)
const isAmong = (values: readonly string[], names: readonly string[]): boolean =>
  values.some((value) => (value === '*' && names.length > 0) || names.includes(value))

/** A group that names another key or provider bounds that one. */
function isOwnGroup({ group }: OwnedLimit, names: BoundedResource['names']): boolean {
  return groupsOf(group ?? '').every(([key, value]) => !Object.hasOwn(names, key) || (names[key] ?? []).includes(value))
}

async function grantOf(em: EntityManager, { organisationId, workspaceId, integrationId }: BoundedResource): Promise<string | null> {
  if (integrationId === null) return null
  const [row] = await em.execute<{ id: string }[]>(
    'SELECT id FROM integration_workspaces WHERE organisation_id = ? AND workspace_id = ? AND integration_id = ?',
    [organisationId, workspaceId, integrationId],
  )
  return row?.id ?? null
}
