import { z } from 'zod'
import { outputPolicies, unpricedTerms, type RateLimit } from '../../gateway/ports/limits.ts'
import { since, whileOn } from '../../release/since.ts'
import { givenBorder, moneyFault, periodFault, thresholdFault, toPeriod, usageTypes, wholeFault } from './limit.ts'

/** How a limit in money treats requests whose cost is not known before they are sent. */
export const moneyFields = {
  on_unpriced: z
    .enum(unpricedTerms)
    .meta({ description: 'The fate of requests to models without a price, under a budget in US dollars; `deny` when absent.' }),
  output_policy: z.enum(outputPolicies).meta({
    description:
      'How much output a request without a bound of its own is expected to have: `strict` as much as the model can give; `typical` (when absent) as much as 99 of 100 answers of the key and the model had lately, at least 1,024 tokens; `inject` the same, and the request is sent with it as its bound.',
  }),
}

/** Counted in billionths of a US dollar, so that no more digits have a meaning. */
const budgetAmount = z
  .number()
  .positive()
  .max(Number.MAX_SAFE_INTEGER)
  .refine((given) => Number(given.toFixed(9)) === given, 'At most nine digits behind the point.')

const budgetFields = {
  type: z.enum(usageTypes).optional().meta({
    description: '`cost` counts US dollars, `tokens` tokens, `requests` requests; `cost` when absent, and absent then in answers too.',
  }),
  credit_limit: budgetAmount.nullable().default(null),
  alert_threshold: budgetAmount.nullable().default(null),
  next_usage_reset_at: since('1.10.0', z.iso.datetime({ offset: true }).nullable()).default(null),
  on_unpriced: moneyFields.on_unpriced.optional(),
  output_policy: moneyFields.output_policy.optional(),
}

const periodicReset = z.enum(['monthly', 'weekly']).nullable()
const periodicResetDays = z.int().min(1).max(365).nullable()

const usageLimitsShape = z.strictObject({
  ...budgetFields,
  periodic_reset: periodicReset.default(null),
  periodic_reset_days: since('1.10.0', periodicResetDays).default(null),
})

/** Keys got both ways to start again at once, before workspaces got the second one. */
const keyUsageLimitsShape = z.strictObject({
  ...budgetFields,
  periodic_reset: since('1.7.0', periodicReset).default(null),
  periodic_reset_days: since('1.7.0', periodicResetDays).default(null),
})

const budgetOf = (shape: typeof usageLimitsShape) =>
  shape
    .superRefine((fields, context) => {
      const terms = { type: fields.type ?? 'cost', onUnpriced: fields.on_unpriced, outputPolicy: fields.output_policy } as const
      for (const fault of [periodFault(toPeriod(fields)), wholeFault(terms.type, fields), thresholdFault(fields), moneyFault(terms)])
        if (fault !== null) context.addIssue({ code: 'custom', path: [fault.field], message: fault.message })
    })
    .overwrite((fields) => ({
      ...fields,
      next_usage_reset_at: fields.next_usage_reset_at === null ? null : givenBorder(fields.next_usage_reset_at, fields.periodic_reset),
    }))

const description = 'A budget in US dollars, tokens or requests.'

/** A budget: how much a provider or a workspace may use, and when its counter starts again. */
export const usageLimits = budgetOf(usageLimitsShape).meta({ id: 'UsageLimits', description })

const keyUsageLimits = budgetOf(keyUsageLimitsShape).meta({ id: 'ApiKeyUsageLimits', description })

export type UsageLimits = z.output<typeof usageLimits>

const limit = <Unit extends RateLimit['unit']>(units: readonly [Unit, ...Unit[]]) =>
  z.strictObject({ type: z.enum(['requests', 'tokens']), unit: z.enum(units), value: z.int().min(0) })

const oncePerUnit = (limits: readonly RateLimit[]) => new Set(limits.map(({ type, unit }) => `${type} ${unit}`)).size === limits.length
const repeated = { message: 'Two rate limits have the same type and unit.' }

/** The rate limits of an API key. */
export const keyRateLimits = z
  .array(limit(['rps', 'rpm', 'rph', 'rpd', 'rpw']))
  .max(20)
  .refine(oncePerUnit, repeated)
  .meta({ id: 'ApiKeyRateLimits', description: 'At most one limit for each type and unit.' })

const providerLimit = limit(['rpm', 'rph', 'rpd'])

/** The rate limits of a provider, a virtual key or a workspace: a list, or a single one. */
export const rateLimits = z
  .union([z.array(providerLimit).max(20), providerLimit.transform((single) => [single])])
  .refine(oncePerUnit, repeated)
  .meta({ id: 'RateLimits', description: 'At most one limit for each type and unit.' })

/** At most one limit, as the access of a workspace to an integration has it. */
export const singleRateLimit = z.array(providerLimit).max(1)

/** Rate limits as they are answered. */
export const rateLimitsView = z.array(z.object({ type: z.string(), unit: z.string(), value: z.number() }))

const budgetView = {
  type: z.string().optional(),
  credit_limit: z.number().nullable(),
  alert_threshold: z.number().nullable(),
  next_usage_reset_at: since('1.10.0', z.string().nullable()),
  current_usage: z.number().optional().meta({ description: 'The usage in this period: US dollars (fractions too), tokens or requests.' }),
  status: z.enum(['active', 'exhausted']).optional(),
  last_reset_at: z.string().nullable().optional().meta({ description: 'When the period began that is counted now.' }),
  is_threshold_alerts_sent: z.boolean().optional().meta({ description: 'True: the alert of this period was noted.' }),
  is_exhausted_alerts_sent: z.boolean().optional(),
  on_unpriced: z.string().optional(),
  output_policy: z.string().optional(),
}

/** A budget as it is answered. */
const usageLimitsView = z.object({
  ...budgetView,
  periodic_reset: z.string().nullable(),
  periodic_reset_days: since('1.10.0', z.number().nullable()),
})

const keyUsageLimitsView = z.object({
  ...budgetView,
  periodic_reset: since('1.7.0', z.string().nullable()),
  periodic_reset_days: since('1.7.0', z.number().nullable()),
})

const flag = 'USAGE_LIMITS_ENABLED'

/** The budget of a key, that of a provider, and the one budget that a list of a workspace may hold: there while usage limits are on. */
export const keyUsageLimitsField = whileOn(flag, keyUsageLimits.nullable().optional())
export const usageLimitsField = whileOn(flag, usageLimits.nullable().optional())
export const usageLimitsList = whileOn(flag, z.array(usageLimits).max(1).nullable().optional())

/** The same as they are answered. */
export const keyUsageLimitsShown = whileOn(flag, keyUsageLimitsView.nullable())
export const usageLimitsShown = whileOn(flag, usageLimitsView.nullable())
export const usageLimitsListShown = whileOn(flag, z.array(usageLimitsView))
