import { feature } from '../../app/feature.ts'
import { ApiKey } from './api-key.entity.ts'
import { createApiKey, deleteApiKey, listApiKeys, readApiKey, rotateApiKey, updateApiKey } from './api-keys.routes.ts'
import { keyScopes } from './key-scopes.ts'

/** The keys that callers of both planes show. */
export const apiKeys = feature({
  id: 'api-keys',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list', 'rotate'] as const).flatMap(keyScopes),
  entities: [ApiKey],
  // `/:id/rotate` comes before `/:type/:subType`, which has the same shape.
  routes: [rotateApiKey, createApiKey, listApiKeys, readApiKey, updateApiKey, deleteApiKey],
})
