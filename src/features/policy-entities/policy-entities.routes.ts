import { LockMode } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound, orNotFound } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { containing, pageOf, toList } from '../../lib/paging.ts'
import { findPolicyLimits, fromAmount, isShownGroup, ownGroups, patternsOfGroups, standingsOf } from '../limits/index.ts'
import { demandPolicy, findRateLimit, findUsageLimit, resetUsage } from '../policies/index.ts'
import { PolicyUsage } from '../policies/policy-usage.entity.ts'
import { rateLimitParams } from '../policies/rate-limits.schema.ts'
import { usageLimitParams } from '../policies/usage-limits.schema.ts'
import { entityList, entityParams, entityQuery, rateEntityList, rateEntityQuery, sorts } from './policy-entity.schema.ts'

const param = 'policyUsageLimitsId'

export const listEntities = route({
  method: 'GET',
  path: '/policies/usage-limits/:policyUsageLimitsId/entities',
  summary: 'List the usage under a usage-limit policy',
  permission: 'policies.read',
  flag: 'USAGE_LIMITS_ENABLED',
  params: usageLimitParams,
  query: entityQuery,
  response: entityList,
})(async ({ em, actor, params, query }) => {
  const policy = await findUsageLimit(em, actor, { id: params.policyUsageLimitsId, param })
  const own = await ownGroups(em, actor)
  const valueKey = containing(query.search)
  const where = {
    policyId: policy.id,
    ...(query.status !== undefined && { status: query.status }),
    ...(valueKey !== undefined && { valueKey }),
    ...(own !== null && { $or: patternsOfGroups(own).map((pattern) => ({ valueKey: { $like: pattern } })) }),
  }
  const page = await findPage(em, PolicyUsage, { where, query, sorts })
  return toList(page.rows.map(presentEntity), page)
})

export const listRateEntities = route({
  method: 'GET',
  path: '/policies/rate-limits/:rateLimitsPolicyId/entities',
  summary: 'List the present counts of a rate-limit policy',
  permission: 'policies.read',
  params: rateLimitParams,
  query: rateEntityQuery,
  response: rateEntityList,
})(async ({ em, actor, params, query }) => {
  const policy = await findRateLimit(em, actor, { id: params.rateLimitsPolicyId, param: 'rateLimitsPolicyId' })
  const { organisationId, workspaceId, id } = policy
  const own = await ownGroups(em, actor)
  const limits = (await findPolicyLimits(em, { organisationId, workspaceId, off: undefined }))
    .filter(
      ({ owner, unit, group }) =>
        owner.id === id && unit === policy.unit && (group ?? '').includes(query.search ?? '') && isShownGroup(own, group),
    )
    .toSorted((one, other) => ((one.group ?? '') < (other.group ?? '') ? -1 : 1))
  const page = pageOf(limits, query, ({ limit }) => limit.id)
  const standings = await standingsOf(
    em,
    page.rows.map(({ limit }) => limit),
  )
  const data = page.rows.map(({ limit, group }) => {
    const { spent = 0, state = 'ok' } = standings.get(limit.id) ?? {}
    const status = state === 'exhausted' ? ('exhausted' as const) : ('active' as const)
    return { value_key: group ?? '', current_usage: spent, limit: limit.value, status, object: 'policy_entity' as const }
  })
  return toList(data, page)
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
  demandPolicy(actor, policy, param)
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
