import { z } from 'zod'
import { listOf, listFields, searchField } from '../../lib/paging.ts'

/** The sort orders of the list. */
export const sorts = { value_key: 'valueKey', current_usage: 'currentUsage' }

const status = z.enum(['active', 'exhausted'])

export const entityParams = z.object({ policyUsageLimitsId: z.string(), entityId: z.string() })

export const entityQuery = z.object({
  ...listFields({ sorts, sort: 'value_key' }),
  search: searchField('the value key'),
  status: status.optional(),
})

/** The answer with the usage of each combination of values that a policy groups by. */
export const entityList = listOf(
  z
    .object({
      id: z.uuid(),
      value_key: z.string().meta({ description: '`key:value` of each group of the policy.' }),
      current_usage: z.number(),
      status,
      last_reset_at: z.iso.datetime().nullable(),
      object: z.literal('policy_entity'),
    })
    .meta({ id: 'UsageLimitsPolicyEntity', description: 'The usage of one combination of the values that a policy groups by.' }),
).meta({ id: 'UsageLimitsPolicyEntityList', description: 'The usage under a policy, by value key.' })

export const rateEntityQuery = z.object({
  ...listFields({ sorts: { value_key: 'valueKey' }, sort: 'value_key' }),
  search: searchField('the value key'),
})

export const rateEntityList = listOf(
  z
    .object({
      value_key: z.string().meta({ description: '`key:value` of each group of the policy.' }),
      current_usage: z.number().meta({ description: 'Requests or tokens of the window that ends now.' }),
      limit: z.number(),
      status,
      object: z.literal('policy_entity'),
    })
    .meta({ id: 'RateLimitsPolicyEntity', description: 'The present count of one combination of the values that a policy groups by.' }),
).meta({
  id: 'RateLimitsPolicyEntityList',
  description: 'The present counts of a rate-limit policy; combinations without a count in its window are not in it.',
})
