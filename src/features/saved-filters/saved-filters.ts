import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, holdSlug, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { resolveWorkspace, visibleTo } from '../workspaces/index.ts'
import { SavedFilter } from './saved-filter.entity.ts'

/** A live filter that the caller may see; AB08 otherwise. Locked when it is about to change. */
export async function findFilter(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { reference: string; forWrite?: boolean },
): Promise<SavedFilter> {
  const where = { ...byIdOrSlug(reference), ...visibleTo(actor), status: 'active' as const }
  const row = await em.findOne(SavedFilter, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orNotFound(row, 'saved filter', { reference, param: 'filterId' })
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
  wanted: Pick<SavedFilter, 'name' | 'type' | 'filters' | 'workspaceId'>,
): Promise<SavedFilter> {
  const { organisationId } = actor
  const slug = toSlug(wanted.name, 'filter')
  await holdSlug(em, `saved_filters:${organisationId}`, slug)
  const isTaken = async (candidate: string) => (await em.count(SavedFilter, { organisationId, slug: candidate, status: 'active' })) > 0
  const row = em.create(SavedFilter, { ...wanted, organisationId, slug: await freeSlug(slug, isTaken), createdBy: actor.id })
  await flushUnique(em, 'This slug is taken.', 'name')
  return row
}

/** A filter as it is answered. */
export const presentFilter = (row: SavedFilter) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  type: row.type,
  workspace_id: row.workspaceId,
  filters: { ...row.filters },
  status: row.status,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'saved-filter' as const,
})
