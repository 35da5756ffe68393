import { z } from 'zod'
import { outputPolicies, unpricedTerms } from '../../limits/limit.ts'
import { toGatewayLimits, type RateLimit, type UsageLimits } from '../../limits/written-limits.ts'

/** The limits that a token claims for its holder. */
export interface TokenLimits {
  readonly rate: readonly RateLimit[]
  readonly usage: readonly UsageLimits[]
}

const rateLimit = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rps', 'rpm', 'rph', 'rpd', 'rpw']),
  value: z.int().min(0),
})

const usageLimit = z
  .object({
    type: z.enum(['cost', 'tokens', 'requests']).default('cost'),
    credit_limit: z.number().positive().max(Number.MAX_SAFE_INTEGER).nullable().default(null),
    periodic_reset: z.enum(['weekly', 'monthly']).nullable().default(null),
    periodic_reset_days: z.int().min(1).max(365).nullable().default(null),
    next_usage_reset_at: z.iso.datetime({ offset: true }).nullable().default(null),
    on_unpriced: z.enum(unpricedTerms).optional(),
    output_policy: z.enum(outputPolicies).optional(),
  })
  .refine(
    ({ type, credit_limit: most }) => most === null || (type === 'cost' ? Number(most.toFixed(9)) === most : Number.isInteger(most)),
    {
      message: 'credit_limit is a whole number of tokens or requests, or US dollars with at most nine digits behind the point.',
    },
  )
  .refine(({ periodic_reset, periodic_reset_days }) => periodic_reset === null || periodic_reset_days === null, {
    message: 'Give periodic_reset or periodic_reset_days.',
  })
  .refine((limit) => limit.next_usage_reset_at === null || (limit.periodic_reset ?? limit.periodic_reset_days) !== null, {
    message: 'next_usage_reset_at needs periodic_reset or periodic_reset_days.',
  })

const most = 20

/** A claim of limits: one or a list, of which no two count the same. */
const oneOrMore = <Written extends { readonly type: string }>(limit: z.ZodType<Written>, counts: (written: Written) => string) =>
  z
    .union([z.array(limit).max(most), limit.transform((single) => [single])])
    .refine((all) => new Set(all.map(counts)).size === all.length, 'Two limits count the same.')
    .nullable()
    .default(null)
    .transform((all): readonly Written[] => all ?? [])

/** The claims that limit the holder of a token. They have the form of the limits of an API key; a list of budgets may have one of each type. */
export const tokenLimits = {
  rate_limits: oneOrMore(rateLimit, ({ type, unit }) => `${type} ${unit}`),
  usage_limits: oneOrMore(usageLimit, ({ type }) => type),
}

/** Returns the limits as the gateway counts them, in counters of the holder that all tokens of it share; null: there are none. */
export function limitsOfHolder({ rate, usage }: TokenLimits, holder: { readonly id: string; readonly organisationId: string }) {
  return toGatewayLimits({ kind: 'token', ...holder, rateLimits: rate, usageLimits: usage, usageFrom: null, createdAt: 0 })
}
