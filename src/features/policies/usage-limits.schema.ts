import { z } from 'zod'
import { listOf, listFields, searchField } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { moneyFields, usageTypes } from '../limits/index.ts'
import { usageLimitConditions, usageLimitGroups } from './conditions.schema.ts'
import { policyFields, policyStatus } from './rate-limits.schema.ts'

/** The sort orders of the list. */
export const sorts = { created_at: 'createdAt', last_updated_at: 'lastUpdatedAt', credit_limit: 'creditLimit' }

const type = z.enum(usageTypes)

const amount = z.number().min(0).max(99_999_999_999)
const moment = z.iso.datetime({ offset: true })

const limits = {
  alert_threshold: amount.nullable().optional(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable().optional(),
  periodic_reset_days: since('1.10.0', z.int().min(1).max(365).nullable()).optional(),
  next_usage_reset_at: since('1.10.0', moment.nullable()).optional(),
  on_unpriced: moneyFields.on_unpriced.nullable().optional(),
  output_policy: moneyFields.output_policy.nullable().optional(),
}

export const createUsageLimitBody = z
  .strictObject({
    name: nameField.nullable().optional(),
    conditions: usageLimitConditions,
    group_by: usageLimitGroups,
    type: type.meta({ description: '`cost` counts US dollars, `tokens` tokens, `requests` requests.' }),
    credit_limit: amount,
    ...limits,
    workspace_id: z.string().min(1).max(255).optional(),
    organisation_id: z.uuid().optional(),
  })
  .meta({ id: 'CreateUsageLimitsPolicy', description: 'How much requests that meet the conditions may use.' })

export const updateUsageLimitBody = z
  .strictObject({
    name: nameField.nullable().optional(),
    credit_limit: amount.optional(),
    ...limits,
    reset_usage_for_value: textField(2000).min(1).optional().meta({ description: 'The value key that starts again with a usage of 0.' }),
  })
  .meta({ id: 'UpdateUsageLimitsPolicy', description: 'The changes; conditions and groups stay as they are.' })

export const usageLimitParams = z.object({ policyUsageLimitsId: z.string() })

export const usageLimitRead = z.object({
  status: policyStatus.default('active'),
  include_usage: z.stringbool().default(false).meta({ description: 'Whether the answer lists the usage, by value key.' }),
})

export const usageLimitQuery = z.object({
  ...listFields({ sorts, sort: '-created_at' }),
  search: searchField('the name'),
  workspace_id: z.string().optional().meta({ description: 'Id or slug.' }),
  status: policyStatus.default('active'),
  type: type.optional(),
})

const usage = z.object({
  current_usage: z.number(),
  status: z.enum(['active', 'exhausted']),
  is_threshold_alerts_sent: z.boolean(),
  is_exhausted_alerts_sent: z.boolean(),
})

export const usageLimitView = z
  .object({
    ...policyFields,
    type,
    credit_limit: z.number(),
    alert_threshold: z.number().nullable(),
    periodic_reset: z.string().nullable(),
    periodic_reset_days: since('1.10.0', z.int().nullable()),
    next_usage_reset_at: since('1.10.0', z.iso.datetime().nullable()),
    last_reset_at: z.iso.datetime().nullable(),
    on_unpriced: z.string().nullable().meta({ description: 'Null for policies that count no US dollars; `output_policy` too.' }),
    output_policy: z.string().nullable(),
    value_key_usage_map: z.record(z.string(), usage).optional(),
    object: z.literal('policy_usage_limits'),
  })
  .meta({ id: 'UsageLimitsPolicy', description: 'How much requests that meet the conditions may use.' })

export const usageLimitList = listOf(usageLimitView).meta({
  id: 'UsageLimitsPolicyList',
  description: 'Usage-limit policies, newest first.',
})
