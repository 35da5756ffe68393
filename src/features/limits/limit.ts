import { fromPico, toPico } from '../../lib/pico.ts'

/** The things that a usage limit counts. */
export const usageTypes = ['cost', 'tokens', 'requests'] as const
export type UsageType = (typeof usageTypes)[number]

/**
 * A limit in whole numbers, whether a policy holds it in columns or a key, a provider or a workspace as JSON: the counted unit, the amount, and when
 * the count starts again. Amounts are pico-units of the counted unit.
 */
export interface Limit extends Period {
  readonly type: UsageType
  /** Null: counted, and never refused. */
  readonly creditLimit?: bigint | null | undefined
  readonly alertThreshold?: bigint | null | undefined
}

interface Period {
  readonly periodicReset?: 'weekly' | 'monthly' | null | undefined
  readonly periodicResetDays?: number | null | undefined
  readonly nextUsageResetAt?: Date | null | undefined
}

interface PeriodFields {
  readonly periodic_reset?: Period['periodicReset']
  readonly periodic_reset_days?: number | null | undefined
  readonly next_usage_reset_at?: string | null | undefined
}

/** A limit as both schemas take it and show it. */
interface LimitFields<Credit> extends PeriodFields {
  readonly type?: Limit['type'] | undefined
  readonly credit_limit: Credit
  readonly alert_threshold?: number | null | undefined
}

/** Reads a limit as it was given or stored. */
export const toLimit = <Credit extends number | null>(fields: LimitFields<Credit>) => ({
  type: fields.type ?? 'cost',
  creditLimit: toAmount(fields.credit_limit),
  alertThreshold: toAmount(fields.alert_threshold ?? null),
  ...toPeriod(fields),
})

/** Reads when a count starts again. */
export const toPeriod = (fields: PeriodFields) => ({
  periodicReset: fields.periodic_reset ?? null,
  periodicResetDays: fields.periodic_reset_days ?? null,
  nextUsageResetAt: fields.next_usage_reset_at == null ? null : new Date(fields.next_usage_reset_at),
})

/** Returns a limit as it is answered. */
export const presentLimit = (limit: Limit) => ({
  type: limit.type,
  credit_limit: fromAmount(limit.creditLimit),
  alert_threshold: fromAmount(limit.alertThreshold),
  periodic_reset: limit.periodicReset ?? null,
  periodic_reset_days: limit.periodicResetDays ?? null,
  next_usage_reset_at: limit.nextUsageResetAt?.toISOString() ?? null,
})

/** 5 January 1970 was a Monday. */
const firstMondayMs = 4 * 24 * 3_600_000
const weekMs = 7 * 24 * 3_600_000

/**
 * Returns a given border; null for that of the calendar, which counts without it: answers state when a period ends, and a client that sends them back
 * must not begin another count.
 */
export function givenBorder<Border extends string | Date>(border: Border, reset: Period['periodicReset']): Border | null {
  const moment = new Date(border)
  const isMonday = reset === 'weekly' && (moment.getTime() - firstMondayMs) % weekMs === 0
  const isFirst = reset === 'monthly' && moment.getUTCDate() === 1 && moment.getTime() % (24 * 3_600_000) === 0
  return isMonday || isFirst ? null : border
}

/** Returns the reason why a count cannot start again so: in two ways, or at a time without a period. Null: it can. */
export function periodFault({ periodicReset, periodicResetDays, nextUsageResetAt }: Period): { field: string; message: string } | null {
  if (periodicReset && periodicResetDays)
    return { field: 'periodic_reset_days', message: 'Give periodic_reset or periodic_reset_days, and null for the other.' }
  if (nextUsageResetAt && !periodicReset && !periodicResetDays)
    return { field: 'next_usage_reset_at', message: 'next_usage_reset_at needs periodic_reset or periodic_reset_days.' }
  return null
}

/** Returns the reason why a limit would never warn: it refuses before its threshold is reached. Null: its threshold can be reached. */
export function thresholdFault({ credit_limit: most, alert_threshold: given }: AmountFields) {
  if (most == null || given == null || given <= most) return null
  return { field: 'alert_threshold', message: `alert_threshold must be at most credit_limit, which is ${most}; it is ${given}.` }
}

/** Returns why an amount cannot be counted: of tokens and requests there are no parts. Null: it can. */
export function wholeFault(type: Limit['type'], fields: AmountFields): { field: string; message: string } | null {
  if (type === 'cost') return null
  const field = (['credit_limit', 'alert_threshold'] as const).find((name) => !Number.isInteger(fields[name] ?? 0))
  return field === undefined ? null : { field, message: `${field} counts ${type}, and must be a whole number.` }
}

interface AmountFields {
  readonly credit_limit?: number | null | undefined
  readonly alert_threshold?: number | null | undefined
}

/** Returns the fault of a limit that counts another unit and has a field for US dollars only. Null: it has none. */
export function moneyFault({ type, onUnpriced, outputPolicy }: MoneyTerms & Pick<Limit, 'type'>) {
  const field = onUnpriced ? 'on_unpriced' : outputPolicy ? 'output_policy' : null
  if (type === 'cost' || field === null) return null
  return { field, message: `${field} is for limits of the type cost; this one counts ${type}.` }
}

interface MoneyTerms {
  readonly onUnpriced?: string | null | undefined
  readonly outputPolicy?: string | null | undefined
}

/** Reads an amount of a body; undefined and null stay unchanged. */
export function toAmount<Given extends number | null | undefined>(given: Given): bigint | Exclude<Given, number>
export function toAmount(given: number | null | undefined): bigint | null | undefined {
  return typeof given === 'number' ? toPico(given) : given
}

/** Returns an amount as it is answered; null where there is none. */
export function fromAmount(amount: bigint): number
export function fromAmount(amount: bigint | null | undefined): number | null
export function fromAmount(amount: bigint | null | undefined): number | null {
  return typeof amount === 'bigint' ? fromPico(amount) : null
}
