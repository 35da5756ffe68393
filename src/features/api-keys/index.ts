import { feature } from '../../app/feature.ts'
import { ApiKey } from './api-key.entity.ts'
import { expireKeys } from './expiry.jobs.ts'
import { createApiKey, deleteApiKey, listApiKeys, readApiKey, rotateApiKey, updateApiKey } from './api-keys.routes.ts'
import { keyScopes } from './key-scopes.ts'
import { keyByIdView, keyView } from './key.view.ts'

export { addKey, findKey, missingKeyMetadata, visibleKeyIds } from './api-keys.ts'
export { apiKeyParams } from './api-key.schema.ts'
export { demandRankOfKey, makerOf, makerOfKey, rankOfKey, roleOfPerson } from './key-rank.ts'
export { checkMayGrant, checkScopesFit, keyScope, keyScopes, keyTypes, scopesOfType } from './key-scopes.ts'

/** The keys that callers of both planes show. */
export const apiKeys = feature({
  id: 'api-keys',
  since: '1.3.0',
  // Managers make keys for others.
  changes: ['1.8.0'],
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list', 'rotate'] as const).flatMap(keyScopes),
  entities: [ApiKey],
  // `/:id/rotate` comes before `/:type/:subType`, which has the same shape.
  routes: [rotateApiKey, createApiKey, listApiKeys, readApiKey, updateApiKey, deleteApiKey],
  views: { key: keyView, keyById: keyByIdView },
})

/** Keys that have run out are marked as such; they are refused before that. */
export const apiKeyExpiry = feature({
  id: 'api-key-expiry',
  since: '1.6.2',
  requires: ['api-keys'],
  permissions: [],
  entities: [],
  routes: [],
  jobs: [expireKeys],
})

/** How many user keys a workspace may have, and how long they live. */
export const userApiKeyLimits = feature({
  id: 'user-api-key-limits',
  since: '1.3.0',
  requires: ['api-keys'],
  permissions: [],
  entities: [],
  routes: [],
})

/** Workspace keys may hold the scope that calls MCP servers. */
export const mcpInvokePermission = feature({
  id: 'mcp-invoke-permission',
  since: '1.3.2',
  requires: ['api-keys'],
  permissions: [],
  entities: [],
  routes: [],
})
