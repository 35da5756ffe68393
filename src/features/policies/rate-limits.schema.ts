import { z } from 'zod'
import { listOf, listFields, searchField } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { conditionsView, groupsView, rateLimitConditions, rateLimitGroups } from './conditions.schema.ts'

/** The sort orders of the list. */
export const sorts = { created_at: 'createdAt', last_updated_at: 'lastUpdatedAt', value: 'value' }

const type = z.enum(['requests', 'tokens'])
const unit = z.enum(['rpm', 'rph', 'rpd'])
export const policyStatus = z.enum(['active', 'archived'])
/** Sixteen digits before the point and nine behind it, as the column holds them. */
const value = z
  .number()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .refine((given) => Number(given.toFixed(9)) === given, 'At most nine digits behind the point.')
  .meta({ description: 'Requests or tokens in one unit of time, a fraction too; 0 lets no request through.' })

export const createRateLimitBody = z
  .strictObject({
    name: nameField.nullable().optional(),
    conditions: rateLimitConditions,
    group_by: rateLimitGroups,
    type,
    unit,
    value,
    workspace_id: z.string().min(1).max(255).optional(),
    organisation_id: z.uuid().optional(),
  })
  .meta({ id: 'CreateRateLimitsPolicy', description: 'How fast requests that meet the conditions may come.' })

export const updateRateLimitBody = z
  .strictObject({ name: nameField.nullable().optional(), unit: unit.optional(), value: value.optional() })
  .meta({ id: 'UpdateRateLimitsPolicy', description: 'The changes; conditions and groups stay as they are.' })

export const rateLimitParams = z.object({ rateLimitsPolicyId: z.string() })

/** Reads show active policies unless they ask for archived ones. */
export const statusQuery = z.object({ status: policyStatus.default('active') })

export const rateLimitQuery = z.object({
  ...listFields({ sorts, sort: '-created_at' }),
  search: searchField('the name'),
  workspace_id: z.string().optional().meta({ description: 'Id or slug.' }),
  status: policyStatus.default('active'),
  type: type.optional(),
  unit: unit.optional(),
})

export const createdPolicy = z
  .object({ id: z.uuid(), object: z.enum(['policy_rate_limits', 'policy_usage_limits']) })
  .meta({ id: 'CreatedPolicy', description: 'The new policy.' })

/** The answer fields of all policies. */
export const policyFields = {
  id: z.uuid(),
  name: z.string().nullable(),
  conditions: conditionsView,
  group_by: groupsView,
  status: policyStatus,
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
}

export const rateLimitView = z
  .object({ ...policyFields, type, unit, value: z.number(), object: z.literal('policy_rate_limits') })
  .meta({ id: 'RateLimitsPolicy', description: 'How fast requests that meet the conditions may come.' })

export const rateLimitList = listOf(rateLimitView).meta({ id: 'RateLimitsPolicyList', description: 'Rate-limit policies, newest first.' })
