import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { containing } from '../../lib/paging.ts'
import { findCollection } from '../collections/index.ts'
import { visibleTo, workspaceFilter } from '../workspaces/index.ts'

/** The filters that lists of prompts and of partials have in common. */
interface LibraryQuery {
  readonly workspace_id?: string | undefined
  readonly collection_id?: string | undefined
  readonly search?: string | undefined
}

/** Returns the conditions of the live rows that the caller may see and that the filters let through. AB08 for a collection that is not there. */
export async function liveRows(em: EntityManager, actor: Actor, query: LibraryQuery) {
  const { workspace_id: workspace, collection_id: reference, search } = query
  const workspaceId = await workspaceFilter(em, actor, workspace)
  const collection = reference === undefined ? null : await findCollection(em, actor, { reference, param: 'collection_id' })
  const name = containing(search)
  return {
    ...visibleTo(actor),
    status: 'active' as const,
    ...(workspaceId !== null && { workspaceId }),
    ...(collection !== null && { collectionId: collection.id }),
    ...(name !== undefined && { name }),
  }
}
