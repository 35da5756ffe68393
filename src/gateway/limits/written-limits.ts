import { type Budget, type Limit, type MoneyTerms, moneyTerms, type Window } from './limit.ts'
import { toPico } from '../../lib/pico.ts'
import { rateTerms } from './rate-headers.ts'

/** A rate limit as it is written. */
export interface RateLimit {
  readonly type: 'requests' | 'tokens'
  readonly unit: 'rps' | 'rpm' | 'rph' | 'rpd' | 'rpw'
  readonly value: number
}

/** A budget as it is written; rows of former releases lack later fields. Amounts are US dollars, tokens or requests. */
export interface UsageLimits {
  readonly type?: Limit['counts'] | undefined
  readonly credit_limit: number | null
  readonly alert_threshold?: number | null | undefined
  readonly periodic_reset?: 'weekly' | 'monthly' | null | undefined
  readonly periodic_reset_days?: number | null | undefined
  readonly next_usage_reset_at?: string | null | undefined
  readonly on_unpriced?: MoneyTerms['onUnpriced'] | undefined
  readonly output_policy?: MoneyTerms['output'] | undefined
}

/** The limits of a resource as they are stored, or as a token claims them. */
export interface WrittenLimits {
  readonly rateLimits: readonly RateLimit[] | null
  /** Keys and providers have one at most, workspaces a list of one. */
  readonly usageLimits: UsageLimits | readonly UsageLimits[] | null
  /** Epoch milliseconds since which usage counts; null: from the beginning. */
  readonly usageFrom: number | null
  /** Epoch milliseconds at which periods of days begin by default. */
  readonly createdAt: number
}

/** A key, a provider, a workspace or the holder of a token, with its limits. */
export interface LimitedResource extends WrittenLimits {
  readonly kind: Exclude<Budget['kind'], 'policy'>
  readonly id: string
  readonly organisationId: string
}

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Parts of a window: usage is forgotten part by part. */
const slots = 60
const units = {
  rps: { ms: secondMs, words: 'per second' },
  rpm: { ms: minuteMs, words: 'per minute' },
  rph: { ms: hourMs, words: 'per hour' },
  rpd: { ms: dayMs, words: 'per day' },
  rpw: { ms: 7 * dayMs, words: 'per week' },
} as const satisfies Record<RateLimit['unit'], { ms: number; words: string }>

/** A second has fewer parts: a slice that is gone before it is used has no effect. */
export const windowOfUnit = (unit: RateLimit['unit']): Window => {
  const parts = unit === 'rps' ? 10 : slots
  return { slotMs: units[unit].ms / parts, slots: parts }
}

/** Returns the length of a unit. */
export const msOfUnit = (unit: RateLimit['unit']): number => units[unit].ms

const nouns = {
  'api-key': 'the API key',
  provider: 'the provider',
  workspace: 'the workspace',
  token: 'the holder of the token',
  'integration-workspace': 'the workspace with this integration',
} as const

/** Returns the limits as the gateway counts them; null, as for most, when there are none. */
export function toGatewayLimits(limited: LimitedResource): readonly Limit[] | null {
  const usage = limited.usageLimits === null ? [] : 'credit_limit' in limited.usageLimits ? [limited.usageLimits] : limited.usageLimits
  const limits = [
    ...(limited.rateLimits ?? []).map((limit) => toRate(limited, limit)),
    ...usage.flatMap((limit) => toUsage(limited, limit)),
  ]
  return limits.length === 0 ? null : limits
}

const toRate = ({ kind, id, organisationId }: LimitedResource, limit: RateLimit): Limit =>
  rateLimitOf(limit, { organisationId, id: `${kind}:${id}`, label: kind, owner: nouns[kind] })

/** The thing whose rate limit it is: the beginning of the counter's name, its word in headers, and words for people. */
export interface RateOwner {
  readonly organisationId: string
  readonly id: string
  /** Letters, digits and `-`. */
  readonly label: string
  readonly owner: string
}

/** Returns a rate limit as the gateway counts it. A fraction of a request lets through as much as its whole part. */
export function rateLimitOf({ type, unit, value: written }: RateLimit, { organisationId, id, label, owner }: RateOwner): Limit {
  const value = Math.floor(written)
  return {
    id: `${id}:${type}:${unit}`,
    organisationId,
    name: `${written} ${type} ${units[unit].words} of ${owner}`,
    kind: 'rate',
    counts: type,
    value,
    window: windowOfUnit(unit),
    rate: rateTerms(`${label}-${type}-${unit}`, { counts: type, value, windowMs: units[unit].ms }),
  }
}

/** Returns the units in which the gateway counts money, digit by digit: a product of floating numbers would be off by one. */
const toNano = (dollars: number): number => Number(toPico(dollars) / 1000n)

/** Writes an amount without an exponent. */
const plainAmount = (dollars: number): string => (Number.isInteger(dollars) ? String(dollars) : dollars.toFixed(9).replace(/0+$/, ''))

function toUsage(limited: LimitedResource, limit: UsageLimits): readonly Limit[] {
  const { kind, id, organisationId, usageFrom, createdAt } = limited
  const { type = 'cost', credit_limit: value, periodic_reset: reset, periodic_reset_days: days, next_usage_reset_at: next } = limit
  if (value === null) return []
  const { period, window } = periodWindow({ reset, days, next, createdAt })
  const from = Math.floor(usageFrom ?? 0)
  const threshold = limit.alert_threshold == null ? null : type === 'cost' ? toNano(limit.alert_threshold) : limit.alert_threshold
  const budget = { kind, id, from, threshold }
  const counter = { id: `${kind}:${id}:usage:${type}:${period}:${from}`, organisationId, kind: 'usage' as const, window, budget }
  if (type !== 'cost') return [{ ...counter, name: `${value} ${type} of ${nouns[kind]}`, counts: type, value }]
  const money = moneyTerms(limit.output_policy, limit.on_unpriced)
  return [{ ...counter, name: `$${plainAmount(value)} of ${nouns[kind]}`, counts: type, value: toNano(value), money }]
}

/** When a budget starts again. Rows of former releases lack later fields. */
export interface BudgetPeriod {
  readonly reset: 'weekly' | 'monthly' | null | undefined
  readonly days: number | null | undefined
  /** A border as ISO time. */
  readonly next: string | null | undefined
  /** Epoch milliseconds at which periods of days begin by default. */
  readonly createdAt: number
}

/** Returns one border for all that belong to the same periods, so that a later one, given for it, begins no new count. */
function firstBorder(border: number, lengthMs: number | null): string {
  if (lengthMs !== null) return new Date(border % lengthMs).toISOString()
  // January has every day.
  const first = new Date(border)
  first.setUTCFullYear(1970, 0, first.getUTCDate())
  return first.toISOString()
}

/** Returns the window of a budget, and the name that its counter has for it: other periods are counted anew. */
export function periodWindow({ reset = null, days = null, next = null, createdAt }: BudgetPeriod): {
  readonly period: string
  readonly window: Window
} {
  const given = next === null ? (days === null ? null : createdAt) : Date.parse(next)
  const anchor = given === null ? null : firstBorder(given, reset === 'monthly' ? null : (days ?? 7) * dayMs)
  const period = days === null ? (reset ?? 'once') : `${days}d`
  return { period: `${period}:${anchor ?? ''}`, window: { slotMs: null, reset, days, anchor } }
}

/** Returns the limits of several as one list; null when there are none. */
export function joinLimits(lists: readonly (readonly Limit[] | null)[]): readonly Limit[] | null {
  const all = lists.flatMap((limits) => limits ?? [])
  return all.length === 0 ? null : all
}
