import { LockMode } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound, orNotFound } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { containing, toList } from '../../lib/paging.ts'
import { fromAmount } from '../limits/index.ts'
import { findUsageLimit, resetUsage } from '../policies/index.ts'
import { PolicyUsage } from '../policies/policy-usage.entity.ts'
import { usageLimitParams } from '../policies/usage-limits.schema.ts'
import { entityList, entityParams, entityQuery, sorts } from './policy-entity.schema.ts'

const param = 'policyUsageLimitsId'

export const listEntities = route({
  method: 'GET',
  path: '/policies/usage-limits/:policyUsageLimitsId/entities',
  summary: 'List what a usage-limit policy has counted',
  permission: 'policies.read',
  flag: 'USAGE_LIMITS_ENABLED',
  params: usageLimitParams,
  query: entityQuery,
  response: entityList,
})(async ({ em, actor, params, query }) => {
  const policy = await findUsageLimit(em, actor, { id: params.policyUsageLimitsId, param })
  const valueKey = containing(query.search)
  const where = {
    policyId: policy.id,
    ...(query.status !== undefined && { status: query.status }),
    ...(valueKey !== undefined && { valueKey }),
  }
  const page = await findPage(em, PolicyUsage, { where, query, sorts })
  return toList(page.rows.map(presentEntity), page)
})

export const resetEntity = route({
  method: 'PUT',
  path: '/policies/usage-limits/:policyUsageLimitsId/entities/:entityId/reset',
  summary: 'Start one of the usages of a policy again',
  permission: 'policies.update',
  flag: 'USAGE_LIMITS_ENABLED',
  resource: 'usage-limits-policy',
  representation: '/policies/usage-limits/:policyUsageLimitsId/entities',
  params: entityParams,
  response: z.object({}),
})(async ({ em, actor, deps, params: { policyUsageLimitsId, entityId }, audit }) => {
  const policy = await findUsageLimit(em, actor, { id: policyUsageLimitsId, param })
  if (!isUuid(entityId)) throw notFound('usage', entityId, 'entityId')
  const found = await em.findOne(PolicyUsage, { id: entityId, policyId: policy.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  resetUsage(orNotFound(found, 'usage', { reference: entityId, param: 'entityId' }), deps.clock.now())
  audit({ id: policy.id, workspaceId: policy.workspaceId })
  return {}
})

const presentEntity = (row: PolicyUsage) => ({
  id: row.id,
  value_key: row.valueKey,
  current_usage: fromAmount(row.currentUsage),
  status: row.status,
  last_reset_at: row.lastResetAt?.toISOString() ?? null,
  object: 'policy_entity' as const,
})
