import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { createApiKey as createSecret, keyHint } from '../../lib/api-key.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { boundsAbove, demandReactivation, havingStatus, ownGroups, withOwnUsage, withUsage } from '../limits/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { ApiKey } from './api-key.entity.ts'
import {
  apiKeyFilter,
  apiKeyKindParams,
  apiKeyList,
  apiKeyParams,
  apiKeyView,
  createApiKeyBody,
  createdApiKey,
  rotateApiKeyBody,
  rotatedApiKey,
  updateApiKeyBody,
} from './api-key.schema.ts'
import {
  addKey,
  addsScopes,
  changeKey,
  demandKeyDefaults,
  demandSamePath,
  findKey,
  homeOfNewKey,
  movesToConfig,
  presentApiKey,
  toKeyType,
  transitionEnd,
  visibleKeys,
} from './api-keys.ts'
import { demandRankOfKey, demandSightOfKey, makerOf } from './key-rank.ts'
import { policyAfterRotation } from './rotation.ts'
import { checkMayGrant, keyScope, keyScopes, keyTypes } from './key-scopes.ts'

const resource = 'api-key'
const empty = z.object({})

export const createApiKey = route({
  method: 'POST',
  path: '/api-keys/:type/:subType',
  summary: 'Create an API key',
  permission: keyScopes('create'),
  resource,
  params: apiKeyKindParams,
  body: createApiKeyBody,
  response: createdApiKey,
})(async ({ em, actor, deps, params, body, audit }) => {
  const type = toKeyType(params.type, params.subType)
  demandSamePath(body, params)
  const workspaceId = await homeOfNewKey(em, actor, { type, body })
  await demandKeyDefaults(em, { organisationId: actor.organisationId, workspaceId }, body)
  const { key, secret } = await addKey(em, { actor, deps, type, workspaceId }, body)
  audit({ id: key.id, workspaceId })
  return { id: key.id, key: secret, object: 'api-key' as const }
})

export const listApiKeys = route({
  method: 'GET',
  path: '/api-keys',
  summary: 'List API keys',
  permission: keyScopes('list'),
  query: apiKeyFilter,
  response: apiKeyList,
})(async ({ em, actor, deps, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const listable = keyTypes.filter((type) => actor.permissions.has(keyScope(type, 'list')))
  const nowMs = deps.clock.now()
  const asked = {
    ...visibleKeys(actor),
    ...(workspaceId !== null && { workspaceId }),
    ...(query.ids !== undefined && { id: { $in: query.ids.filter(isUuid) } }),
    type: { $in: listable },
  }
  const where = { $and: [asked, havingStatus(query.status, nowMs), searching(query.search, 'name')] }
  const page = await findPage(em, ApiKey, { where, query, sorts: usualSorts })
  const views = page.rows.map((row) => presentApiKey(row, nowMs))
  return toList(await withUsage(em, { kind: 'api-key', rows: page.rows }, views), page)
})

export const readApiKey = route({
  method: 'GET',
  path: '/api-keys/:id',
  summary: 'Read an API key',
  permission: keyScopes('read'),
  params: apiKeyParams,
  response: apiKeyView,
})(async ({ em, actor, deps, params }) => {
  const row = await findKey(em, actor, { id: params.id, verb: 'read' })
  const view = await withOwnUsage(em, { kind: 'api-key', row }, presentApiKey(row, deps.clock.now()))
  const { organisationId, workspaceId = null } = row
  const names = { api_key: [row.id] }
  const own = await ownGroups(em, actor)
  const bounded_by = await boundsAbove(em, { organisationId, workspaceId, off: deps.level.off, names, own, integrationId: null })
  return { ...view, bounded_by }
})

export const updateApiKey = route({
  method: 'PUT',
  path: '/api-keys/:id',
  summary: 'Change an API key',
  permission: keyScopes('update'),
  resource,
  params: apiKeyParams,
  body: updateApiKeyBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const key = await findKey(em, actor, { id: params.id, verb: 'update' })
  // Its config sees what its holder sends. To delete it is to stop a key that leaked, which its workspace must be able to do.
  const adds = addsScopes(key, body)
  if (key.type === 'workspace-user' || adds) await demandRankOfKey(em, actor, key)
  // The holder of a key may be any program: scopes and configs show its holder, or their writer, the logs and the requests of others.
  if (adds || movesToConfig(key, body)) demandSightOfKey(actor, key)
  const { usage_limits: wanted, reset_usage: reset } = body
  await demandReactivation(em, deps.level, { kind: 'api-key', row: key, wanted, reset })
  await changeKey(em, key, { body, actor, nowMs: deps.clock.now() })
  audit({ id: key.id, workspaceId: key.workspaceId ?? null })
  return {}
})

export const deleteApiKey = route({
  method: 'DELETE',
  path: '/api-keys/:id',
  summary: 'Delete an API key; it stops working at once',
  permission: keyScopes('delete'),
  resource,
  params: apiKeyParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const key = await findKey(em, actor, { id: params.id, verb: 'delete' })
  key.status = 'archived'
  key.previousKeyHash = null
  key.previousKeyExpiresAt = null
  audit({ id: key.id, workspaceId: key.workspaceId ?? null })
  return {}
})

export const rotateApiKey = route({
  method: 'POST',
  path: '/api-keys/:id/rotate',
  summary: 'Give an API key a new secret; the old one stays valid for a transition period',
  permission: keyScopes('rotate'),
  resource,
  params: apiKeyParams,
  body: rotateApiKeyBody,
  response: rotatedApiKey,
})(async ({ em, actor, deps, params, body, audit }) => {
  const key = await findKey(em, actor, { id: params.id, verb: 'rotate' })
  checkMayGrant(actor, key.scopes)
  await demandRankOfKey(em, actor, key)
  demandSightOfKey(actor, key)
  const secret = createSecret()
  const nowMs = deps.clock.now()
  const ends = transitionEnd(key, { actor, requestedMs: body.key_transition_period_ms, nowMs })
  key.previousKeyHash = key.keyHash
  key.previousKeyExpiresAt = ends
  key.previousMakerId = key.makerId ?? null
  key.makerId = makerOf(actor) ?? key.makerId ?? null
  key.keyHash = deps.vault.hashKey(secret)
  key.rotatedAt = new Date(nowMs)
  key.rotationPolicy = policyAfterRotation(key.rotationPolicy, nowMs)
  key.keyHint = keyHint(secret)
  audit({ id: key.id, workspaceId: key.workspaceId ?? null })
  return { id: key.id, key: secret, key_transition_expires_at: ends.toISOString() }
})
