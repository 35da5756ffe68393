import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants } from '../../app/database/dependants.ts'
import { byIdOrSlug, flushUnique, holdSlug, notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { visibleTo } from '../workspaces/index.ts'
import { Collection } from './collection.entity.ts'
import { countContents, thingsIn, type Content, type Contents } from './collections.queries.ts'

interface CollectionQuery {
  /** UUID or slug. */
  readonly reference: string
  /** `hold` keeps it from being deleted until the transaction ends, `change` keeps others from changing it. */
  readonly lock?: 'hold' | 'change'
  /** The field that named it. */
  readonly param?: string
}

const lockModes = { hold: LockMode.PESSIMISTIC_READ, change: LockMode.PESSIMISTIC_WRITE } as const

/** A live collection that the caller may see; AB08 otherwise. */
export async function findCollection(
  em: EntityManager,
  actor: Actor,
  { reference, lock, param = 'id' }: CollectionQuery,
): Promise<Collection> {
  const row = await em.findOne(
    Collection,
    { ...byIdOrSlug(reference), ...visibleTo(actor), status: 'active' },
    lock === undefined ? {} : { lockMode: lockModes[lock] },
  )
  if (row === null) throw notFound('collection', reference, param)
  return row
}

/** The collection in which a workspace's things lie that name no other; it is never deleted. */
export const defaultCollection = (em: EntityManager, workspaceId: string): Promise<Collection> =>
  em.findOneOrFail(Collection, { workspaceId, isDefault: true })

interface NewCollection {
  readonly name: string
  readonly workspaceId: string
  readonly parent: Collection | null
}

/** Stores a collection. The row is written when it returns. */
export async function addCollection(em: EntityManager, actor: Actor, { name, workspaceId, parent }: NewCollection): Promise<Collection> {
  if (parent !== null && parent.workspaceId !== workspaceId)
    throw new ApiError('AB01', 'The parent collection belongs to another workspace.', { param: 'parent_collection_id' })
  const row = em.create(Collection, {
    organisationId: actor.organisationId,
    workspaceId,
    parentCollectionId: parent?.id ?? null,
    slug: await chooseSlug(em, actor, name),
    name,
    createdBy: actor.id,
  })
  await flushUnique(em, 'This slug is taken.', 'name')
  return row
}

async function chooseSlug(em: EntityManager, { organisationId }: Actor, name: string): Promise<string> {
  const wanted = toSlug(name, 'collection')
  await holdSlug(em, `collections:${organisationId}`, wanted)
  return freeSlug(wanted, async (slug) => (await em.count(Collection, { organisationId, slug, status: 'active' })) > 0)
}

/** Deletes an empty collection; AB07 naming its contents otherwise. */
export async function archiveCollection(em: EntityManager, row: Collection): Promise<void> {
  if (row.isDefault) throw new ApiError('AB03', 'The default collection stays as long as its workspace does.')
  demandNoDependants('collection', await thingsIn(em, row.id))
  row.status = 'archived'
}

/** A collection without its contents. */
const presentCollection = (row: Collection) => ({
  id: row.id,
  name: row.name,
  workspace_id: row.workspaceId,
  slug: row.slug,
  parent_collection_id: row.parentCollectionId ?? null,
  is_default: Number(row.isDefault),
  status: row.status,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'collection' as const,
})

const empty: Content = { count: 0, latest: null }

function presentContents({ children, prompts }: Contents, id: string) {
  const [inside, held] = [children.get(id) ?? empty, prompts.get(id) ?? empty]
  return {
    child_collections_count: inside.count,
    prompts_count: held.count,
    child_collections_last_updated_at: inside.latest,
    prompts_last_updated_at: held.latest,
  }
}

/** Collections as lists answer them. */
export async function presentCollections(em: EntityManager, rows: readonly Collection[]) {
  const contents = await countContents(
    em,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({ ...presentCollection(row), collection_details: presentContents(contents, row.id) }))
}

/** A collection with those in it. */
export async function presentWithChildren(em: EntityManager, row: Collection) {
  const children = await em.find(Collection, { parentCollectionId: row.id, status: 'active' }, { orderBy: { createdAt: 'asc', id: 'asc' } })
  const contents = await countContents(em, [row.id, ...children.map(({ id }) => id)])
  return {
    ...presentCollection(row),
    collection_details: presentContents(contents, row.id),
    child_collections: children.map((child) => ({
      id: child.id,
      name: child.name,
      slug: child.slug,
      last_updated_at: child.lastUpdatedAt.toISOString(),
      collection_details: presentContents(contents, child.id),
    })),
  }
}
