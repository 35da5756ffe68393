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
    .meta({ id: 'UsageLimitsPolicyEntity', description: 'What one combination of the values that a policy groups by has used.' }),
).meta({ id: 'UsageLimitsPolicyEntityList', description: 'What a policy has counted, by value key.' })

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
    .meta({ id: 'RateLimitsPolicyEntity', description: 'What one combination of the values that a policy groups by counts now.' }),
).meta({
  id: 'RateLimitsPolicyEntityList',
  description: 'What a rate-limit policy counts now; what counted nothing in its window is not in it.',
})
