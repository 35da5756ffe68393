import { feature } from '../../app/feature.ts'
import { Collection } from './collection.entity.ts'
import { createCollection, deleteCollection, listCollections, readCollection, updateCollection } from './collections.routes.ts'

export { defaultCollection, findCollection } from './collections.ts'

/** Folders of prompts and partials. */
export const collections = feature({
  id: 'collections',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `prompts.${verb}`),
  entities: [Collection],
  routes: [createCollection, listCollections, readCollection, updateCollection, deleteCollection],
})
