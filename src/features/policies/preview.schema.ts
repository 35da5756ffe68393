import { z } from 'zod'
import { createRateLimitBody } from './rate-limits.schema.ts'
import { createUsageLimitBody } from './usage-limits.schema.ts'

const hours = z
  .int()
  .min(1)
  .max(168)
  .default(24)
  .meta({ description: 'The logs of so many last hours are looked at, the latest 5,000 at most.' })

export const rateLimitDraft = createRateLimitBody
  .omit({ name: true, organisation_id: true })
  .extend({ hours })
  .meta({ id: 'RateLimitsPolicyDraft', description: 'A rate-limit policy that is not made yet.' })

export const usageLimitDraft = createUsageLimitBody
  .pick({ conditions: true, group_by: true, type: true, credit_limit: true, workspace_id: true })
  .extend({ hours })
  .meta({ id: 'UsageLimitsPolicyDraft', description: 'A usage-limit policy that is not made yet.' })

export const draftTried = z
  .object({
    object: z.literal('policy_preview'),
    requests: z.int().meta({ description: 'The logs that were looked at.' }),
    is_whole: z.boolean().meta({ description: 'False: there are more logs than are looked at.' }),
    matched: z.int().meta({ description: 'Those that meet the conditions.' }),
    groups: z.int(),
    groups_over: z.int().meta({ description: 'Combinations of values that would be over the limit.' }),
    data: z.array(
      z.object({
        value_key: z.string().meta({ description: '`key:value` of each group of the policy.' }),
        requests: z.int(),
        used: z
          .number()
          .meta({ description: 'US dollars, tokens or requests: of all logs, under a rate limit those of the busiest window.' }),
        over: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'PolicyPreview', description: 'The usage that a policy would have counted, by value key: the 100 with the most.' })
