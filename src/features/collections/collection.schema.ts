import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'

const reference = z.string().min(1).max(255)

export const createCollectionBody = z
  .strictObject({
    workspace_id: reference.optional(),
    name: nameField,
    parent_collection_id: reference.nullable().optional().meta({ description: 'Id or slug of a collection of the same workspace.' }),
  })
  .meta({ id: 'CreateCollection', description: 'A new folder for prompts.' })

export const updateCollectionBody = z
  .strictObject({ name: nameField })
  .meta({ id: 'UpdateCollection', description: 'The new name; the slug stays.' })

export const collectionParams = z.object({ collectionId: z.string() })

export const collectionRead = z.object(usedByQuery)

export const collectionFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: 'created_at' }),
  search: searchField('the name'),
  workspace_id: z.string().optional(),
})

export const collectionReference = z
  .object({ id: z.uuid(), slug: z.string() })
  .meta({ id: 'CollectionReference', description: 'Which collection it was.' })

const details = z
  .object({
    child_collections_count: z.int(),
    prompts_count: z.int(),
    child_collections_last_updated_at: z.iso.datetime().nullable(),
    prompts_last_updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'CollectionDetails', description: 'The direct contents of a collection.' })

const fields = {
  id: z.uuid(),
  name: z.string(),
  workspace_id: z.uuid(),
  slug: z.string(),
  parent_collection_id: z.uuid().nullable(),
  is_default: z.int().meta({ description: '1 for the collection that came with the workspace, else 0.' }),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('collection'),
}

const child = z.object({ id: z.uuid(), name: z.string(), slug: z.string(), last_updated_at: z.iso.datetime(), collection_details: details })

/** A collection as it is read: with those in it. */
export const collectionView = z
  .object({ ...fields, collection_details: details, child_collections: z.array(child), ...usedByField })
  .meta({ id: 'CollectionWithChildCollections', description: 'A folder for prompts, with the folders in it.' })

export const collectionList = listOf(
  z
    .object({ ...fields, collection_details: details })
    .meta({ id: 'CollectionWithDetails', description: 'A folder for prompts, and how much is in it.' }),
).meta({ id: 'CollectionList', description: 'Collections of a workspace, oldest first.' })
