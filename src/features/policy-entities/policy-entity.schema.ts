import { z } from 'zod'
import { listOf, pageFields } from '../../lib/paging.ts'
import { textField } from '../../lib/text.ts'

const status = z.enum(['active', 'exhausted'])

export const entityParams = z.object({ policyUsageLimitsId: z.string(), entityId: z.string() })

export const entityQuery = z.object({
  ...pageFields({ defaultSize: 50, maxSize: 100 }),
  status: status.optional(),
  search: textField(255).optional().meta({ description: 'Part of the value key, in any case.' }),
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
