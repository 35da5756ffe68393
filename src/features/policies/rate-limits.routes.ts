import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { searching, toList } from '../../lib/paging.ts'
import { visibleTo, workspaceFilter } from '../workspaces/index.ts'
import {
  demandPolicy,
  demandRoomForPolicy,
  findRateLimit,
  homeOfPolicy,
  limitsIn,
  newPolicy,
  noteSetter,
  presentRateLimit,
} from './policies.ts'
import { RateLimitPolicy } from './policy.entity.ts'
import {
  createdPolicy,
  createRateLimitBody,
  rateLimitList,
  rateLimitParams,
  rateLimitQuery,
  rateLimitView,
  statusQuery,
  updateRateLimitBody,
  sorts,
} from './rate-limits.schema.ts'

const resource = 'rate-limits-policy'
const param = 'rateLimitsPolicyId'

export const createRateLimit = route({
  method: 'POST',
  path: '/policies/rate-limits',
  summary: 'Make a rate-limit policy',
  permission: 'policies.create',
  resource,
  body: createRateLimitBody,
  response: createdPolicy,
})(async ({ em, actor, body, audit }) => {
  const workspaceId = await homeOfPolicy(em, actor, body)
  await demandRoomForPolicy(em, actor, { ...body, workspaceId })
  const { type, unit, value } = body
  const row = em.create(RateLimitPolicy, {
    ...newPolicy(actor, workspaceId, body),
    type,
    unit,
    value,
  })
  await em.flush()
  audit({ id: row.id, workspaceId })
  return { id: row.id, object: 'policy_rate_limits' as const }
})

export const listRateLimits = route({
  method: 'GET',
  path: '/policies/rate-limits',
  summary: 'List rate-limit policies',
  permission: 'policies.list',
  query: rateLimitQuery,
  response: rateLimitList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const { status, type, unit } = query
  const where = {
    ...visibleTo(actor),
    status,
    ...(workspaceId !== null && { workspaceId }),
    ...(type !== undefined && { type }),
    ...(unit !== undefined && { unit }),
    ...searching(query.search, 'name'),
  }
  const page = await findPage(em, RateLimitPolicy, { where, query, sorts })
  return toList(page.rows.map(presentRateLimit), page)
})

export const readRateLimit = route({
  method: 'GET',
  path: '/policies/rate-limits/:rateLimitsPolicyId',
  summary: 'Read a rate-limit policy',
  permission: 'policies.read',
  params: rateLimitParams,
  query: statusQuery,
  response: rateLimitView,
})(async ({ em, actor, params, query }) =>
  presentRateLimit(await findRateLimit(em, actor, { id: params.rateLimitsPolicyId, status: query.status, param })),
)

export const updateRateLimit = route({
  method: 'PUT',
  path: '/policies/rate-limits/:rateLimitsPolicyId',
  summary: 'Change a rate-limit policy',
  permission: 'policies.update',
  resource,
  params: rateLimitParams,
  body: updateRateLimitBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const row = await findRateLimit(em, actor, { id: params.rateLimitsPolicyId, param, forWrite: true })
  const before = limitsIn(row)
  assignDefined(row, { name: body.name, unit: body.unit, value: body.value })
  noteSetter(actor, row, before)
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

export const deleteRateLimit = route({
  method: 'DELETE',
  path: '/policies/rate-limits/:rateLimitsPolicyId',
  summary: 'Archive a rate-limit policy, which then applies to no requests',
  permission: 'policies.delete',
  resource,
  params: rateLimitParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findRateLimit(em, actor, { id: params.rateLimitsPolicyId, param, forWrite: true })
  demandPolicy(actor, row, param)
  row.status = 'archived'
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
