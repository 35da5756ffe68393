import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, holdSlug, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Role } from '../../lib/access/roles.ts'
import { demandBinder } from '../../lib/access/set-from-above.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { ApiKey } from '../api-keys/api-key.entity.ts'
import { rankOfKey, roleOfPerson } from '../api-keys/index.ts'
import { resolveWorkspace, visibleTo } from '../workspaces/index.ts'
import { User } from '../users/user.entity.ts'
import { SavedFilter, type Visibility } from './saved-filter.entity.ts'

/** The live filters that the caller may see: those of their workspaces, and of the private ones their own. */
export const filtersOf = (actor: Actor) =>
  ({
    ...visibleTo(actor),
    status: 'active',
    $or: [{ visibility: 'workspace' }, ...(actor.userId === null ? [] : [{ ownerId: actor.userId }])],
  }) satisfies FilterQuery<SavedFilter>

/** AB01 for a service key, which is no person; AB03 for a caller that would hide, or show, another person's filter. */
export function demandMayHide(actor: Actor, visibility: Visibility | undefined, before: SavedFilter | null): void {
  if (visibility === undefined || visibility === (before?.visibility ?? 'workspace')) return
  if (actor.userId === null) throw new ApiError('AB01', 'Only a person has a filter for themselves.', { param: 'visibility' })
  if (before !== null && before.ownerId !== actor.userId)
    throw new ApiError('AB03', 'Only the person who made a filter decides who sees it.', { param: 'visibility' })
}

/** A live filter that the caller may see; AB08 otherwise. Locked when it is about to change. */
export async function findFilter(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { reference: string; forWrite?: boolean },
): Promise<SavedFilter> {
  const where = { $and: [byIdOrSlug(reference), filtersOf(actor)] }
  const row = await em.findOne(SavedFilter, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orNotFound(row, 'saved filter', { reference, param: 'filterId' })
}

/** A live filter that the caller may change: their own, or one of a maker who ranks no higher. AB03 for another that they may see. */
export async function findOwnFilter(em: EntityManager, actor: Actor, reference: string): Promise<SavedFilter> {
  const row = await findFilter(em, actor, { reference, forWrite: true })
  if (actor.userId !== null && row.ownerId === actor.userId) return row
  const maker = await rankOfMaker(em, row)
  const binder = maker === 'owner' ? 'organisation-admin' : maker
  demandBinder(actor, binder, { bound: 'This filter was made', kept: 'or delete it', param: 'filterId' })
  return row
}

/** A filter whose maker is gone is open to all who see it. */
async function rankOfMaker(em: EntityManager, row: SavedFilter): Promise<Role> {
  if (row.ownerId) return (await roleOfPerson(em, row.ownerId, row)) ?? 'member'
  const key = row.createdBy ? await em.findOne(ApiKey, { id: row.createdBy }) : null
  return key === null ? 'member' : rankOfKey(em, key)
}

/** Refuses a filter that names a workspace which the caller does not see. */
export async function checkFilters(em: EntityManager, actor: Actor, filters: SavedFilter['filters']): Promise<void> {
  const { workspace_slug: named } = filters
  if (typeof named === 'string') await resolveWorkspace(em, actor, named)
}

/** Stores a filter. The row is written when it returns. */
export async function addFilter(
  em: EntityManager,
  actor: Actor,
  wanted: Pick<SavedFilter, 'name' | 'type' | 'filters' | 'columns' | 'sort' | 'visibility' | 'workspaceId'>,
): Promise<SavedFilter> {
  const { organisationId } = actor
  const slug = toSlug(wanted.name, 'filter')
  await holdSlug(em, `saved_filters:${organisationId}`, slug)
  const isTaken = async (candidate: string) => (await em.count(SavedFilter, { organisationId, slug: candidate, status: 'active' })) > 0
  const own = { organisationId, slug: await freeSlug(slug, isTaken), createdBy: actor.id, ownerId: actor.userId }
  const row = em.create(SavedFilter, { ...wanted, ...own })
  await flushUnique(em, 'This slug is taken.', 'name')
  return row
}

/** Filters as they are answered. */
export async function presentFilters(em: EntityManager, rows: readonly SavedFilter[]) {
  const owners = await em.find(User, { id: { $in: rows.flatMap(({ ownerId }) => ownerId ?? []) } })
  return rows.map((row) => {
    const owner = owners.find(({ id }) => id === row.ownerId)
    return {
      id: row.id,
      slug: row.slug,
      name: row.name,
      type: row.type,
      workspace_id: row.workspaceId,
      filters: { ...row.filters },
      columns: row.columns ? [...row.columns] : null,
      sort: row.sort ?? null,
      visibility: row.visibility,
      owner: owner === undefined ? null : { id: owner.id, email: owner.email },
      status: row.status,
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.lastUpdatedAt.toISOString(),
      object: 'saved-filter' as const,
    }
  })
}
