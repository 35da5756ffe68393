import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { searching, toList } from '../../lib/paging.ts'
import { givenBorder, toAmount, toExpiry, toLimit } from '../limits/index.ts'
import { visibleTo, workspaceFilter } from '../workspaces/index.ts'
import {
  demandAmounts,
  demandThreshold,
  demandMoney,
  demandPeriod,
  demandPolicy,
  demandRoomForPolicy,
  findUsageLimit,
  homeOfPolicy,
  limitsIn,
  newPolicy,
  nextBorders,
  noteSetter,
  presentUsageLimit,
  resetValue,
  usageOf,
} from './policies.ts'
import { UsageLimitPolicy } from './policy.entity.ts'
import { createdPolicy } from './rate-limits.schema.ts'
import {
  createUsageLimitBody,
  updateUsageLimitBody,
  usageLimitList,
  usageLimitParams,
  usageLimitQuery,
  usageLimitRead,
  usageLimitView,
  sorts,
} from './usage-limits.schema.ts'

const resource = 'usage-limits-policy'
const param = 'policyUsageLimitsId'
const resetField = 'next_usage_reset_at'

export const createUsageLimit = route({
  method: 'POST',
  path: '/policies/usage-limits',
  summary: 'Make a usage-limit policy',
  permission: 'policies.create',
  flag: 'USAGE_LIMITS_ENABLED',
  resource,
  body: createUsageLimitBody,
  response: createdPolicy,
})(async ({ em, actor, deps, body, audit }) => {
  const workspaceId = await homeOfPolicy(em, actor, body)
  await demandRoomForPolicy(em, actor, { ...body, workspaceId })
  const limit = toLimit(body)
  toExpiry(body.next_usage_reset_at, deps.clock.now(), resetField)
  demandPeriod(limit)
  const border = limit.nextUsageResetAt === null ? null : givenBorder(limit.nextUsageResetAt, limit.periodicReset)
  const terms = { onUnpriced: body.on_unpriced ?? null, outputPolicy: body.output_policy ?? null }
  demandMoney({ type: body.type, ...terms })
  demandAmounts(body.type, { credit_limit: body.credit_limit, alert_threshold: body.alert_threshold })
  demandThreshold(limit)
  const row = em.create(UsageLimitPolicy, { ...limit, nextUsageResetAt: border, ...terms, ...newPolicy(actor, workspaceId, body) })
  await em.flush()
  audit({ id: row.id, workspaceId })
  return { id: row.id, object: 'policy_usage_limits' as const }
})

export const listUsageLimits = route({
  method: 'GET',
  path: '/policies/usage-limits',
  summary: 'List usage-limit policies',
  permission: 'policies.list',
  flag: 'USAGE_LIMITS_ENABLED',
  query: usageLimitQuery,
  response: usageLimitList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const { status, type } = query
  const where = {
    ...visibleTo(actor),
    status,
    ...(workspaceId !== null && { workspaceId }),
    ...(type !== undefined && { type }),
    ...searching(query.search, 'name'),
  }
  const page = await findPage(em, UsageLimitPolicy, { where, query, sorts })
  const borders = await nextBorders(em, page.rows)
  return toList(
    page.rows.map((row) => presentUsageLimit(row, borders)),
    page,
  )
})

export const readUsageLimit = route({
  method: 'GET',
  path: '/policies/usage-limits/:policyUsageLimitsId',
  summary: 'Read a usage-limit policy',
  permission: 'policies.read',
  flag: 'USAGE_LIMITS_ENABLED',
  params: usageLimitParams,
  query: usageLimitRead,
  response: usageLimitView,
})(async ({ em, actor, params, query }) => {
  const row = await findUsageLimit(em, actor, { id: params.policyUsageLimitsId, status: query.status, param })
  const shown = presentUsageLimit(row, await nextBorders(em, [row]))
  return { ...shown, ...(query.include_usage && { value_key_usage_map: await usageOf(em, actor, row) }) }
})

export const updateUsageLimit = route({
  method: 'PUT',
  path: '/policies/usage-limits/:policyUsageLimitsId',
  summary: 'Change a usage-limit policy, or start a usage again',
  permission: 'policies.update',
  flag: 'USAGE_LIMITS_ENABLED',
  resource,
  params: usageLimitParams,
  body: updateUsageLimitBody,
  response: z.object({}),
})(async ({ em, actor, deps, params, body, audit }) => {
  const nowMs = deps.clock.now()
  const row = await findUsageLimit(em, actor, { id: params.policyUsageLimitsId, param, forWrite: true })
  const before = limitsIn(row)
  assignDefined(row, {
    name: body.name,
    creditLimit: toAmount(body.credit_limit),
    alertThreshold: toAmount(body.alert_threshold),
    periodicReset: body.periodic_reset,
    periodicResetDays: body.periodic_reset_days,
    nextUsageResetAt: toExpiry(body.next_usage_reset_at, nowMs, resetField),
    onUnpriced: body.on_unpriced,
    outputPolicy: body.output_policy,
  })
  demandPeriod(row)
  if (row.nextUsageResetAt != null) row.nextUsageResetAt = givenBorder(row.nextUsageResetAt, row.periodicReset)
  demandMoney(row)
  demandAmounts(row.type, { credit_limit: body.credit_limit, alert_threshold: body.alert_threshold })
  if (body.credit_limit !== undefined || body.alert_threshold !== undefined) demandThreshold(row)
  noteSetter(actor, row, before)
  if (body.reset_usage_for_value !== undefined) demandPolicy(actor, row, 'reset_usage_for_value')
  if (body.reset_usage_for_value !== undefined) await resetValue(em, row, { valueKey: body.reset_usage_for_value, nowMs })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

export const deleteUsageLimit = route({
  method: 'DELETE',
  path: '/policies/usage-limits/:policyUsageLimitsId',
  summary: 'Archive a usage-limit policy, which then applies to no requests',
  permission: 'policies.delete',
  flag: 'USAGE_LIMITS_ENABLED',
  resource,
  params: usageLimitParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findUsageLimit(em, actor, { id: params.policyUsageLimitsId, param, forWrite: true })
  demandPolicy(actor, row, param)
  row.status = 'archived'
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
