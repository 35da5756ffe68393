import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { containing, toList, usualSorts } from '../../lib/paging.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { Collection } from './collection.entity.ts'
import { thingsIn } from './collections.queries.ts'
import {
  collectionFilter,
  collectionList,
  collectionParams,
  collectionRead,
  collectionReference,
  collectionView,
  createCollectionBody,
  updateCollectionBody,
} from './collection.schema.ts'
import { addCollection, archiveCollection, findCollection, presentCollections, presentWithChildren } from './collections.ts'

const resource = 'collection'

export const createCollection = route({
  method: 'POST',
  path: '/collections',
  summary: 'Make a folder for prompts',
  permission: 'prompts.create',
  resource,
  body: createCollectionBody,
  response: collectionReference,
})(async ({ em, actor, body, audit }) => {
  const { parent_collection_id: reference, workspace_id } = body
  const parent = reference ? await findCollection(em, actor, { reference, lock: 'hold', param: 'parent_collection_id' }) : null
  const workspace = await resolveWorkspace(em, actor, workspace_id ?? parent?.workspaceId)
  const row = await addCollection(em, actor, { name: body.name, workspaceId: workspace.id, parent })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { id: row.id, slug: row.slug }
})

export const listCollections = route({
  method: 'GET',
  path: '/collections',
  summary: 'List the collections of a workspace',
  permission: 'prompts.list',
  query: collectionFilter,
  response: collectionList,
})(async ({ em, actor, query }) => {
  const workspace = await resolveWorkspace(em, actor, query.workspace_id)
  const name = containing(query.search)
  const where = { workspaceId: workspace.id, status: 'active' as const, ...(name !== undefined && { name }) }
  const page = await findPage(em, Collection, { where, query, sorts: usualSorts })
  return toList(await presentCollections(em, page.rows), page)
})

export const readCollection = route({
  method: 'GET',
  path: '/collections/:collectionId',
  summary: 'Read a collection with the collections in it',
  permission: 'prompts.read',
  params: collectionParams,
  query: collectionRead,
  response: collectionView,
})(async ({ em, actor, params, query }) => {
  const row = await findCollection(em, actor, { reference: params.collectionId })
  return { ...(await presentWithChildren(em, row)), ...(query.include_used_by && { used_by: await thingsIn(em, row.id) }) }
})

export const updateCollection = route({
  method: 'PUT',
  path: '/collections/:collectionId',
  summary: 'Rename a collection',
  permission: 'prompts.update',
  resource,
  params: collectionParams,
  body: updateCollectionBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const row = await findCollection(em, actor, { reference: params.collectionId, lock: 'change' })
  row.name = body.name
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

export const deleteCollection = route({
  method: 'DELETE',
  path: '/collections/:collectionId',
  summary: 'Delete an empty collection',
  permission: 'prompts.delete',
  resource,
  params: collectionParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findCollection(em, actor, { reference: params.collectionId, lock: 'change' })
  await archiveCollection(em, row)
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
