import type { EntityManager } from '@mikro-orm/postgresql'
import { isFields } from '../../lib/json/fields.ts'
import { type Limit, type LimitedResource, toGatewayLimits } from '../../gateway/ports/limits.ts'
import { type LastUse, lastUsesOf } from './last-use.ts'
import type { UsageLimits } from './limits.schema.ts'
import { type BudgetPeriod, countedOf, type LimitUsage } from './standing.ts'

/** A row whose budget is shown. */
export interface BudgetRow {
  readonly id: string
  readonly organisationId: string
  readonly usageLimits?: UsageLimits | readonly UsageLimits[] | null | undefined
  readonly usageResetAt?: Date | null | undefined
  readonly createdAt: Date
}

interface ShownLimits {
  readonly usage_limits: unknown
}

interface WithUsage extends Partial<LastUse> {
  readonly usage_limits: unknown
  /** Null: there is no budget. */
  readonly usage: LimitUsage | null
}

/**
 * Returns the views of rows, in their order, with the usage of their budgets in this period, and the begin of the next one; keys and providers also
 * with their last use.
 */
export async function withUsage<View extends ShownLimits>(
  em: EntityManager,
  { kind, rows }: { readonly kind: LimitedResource['kind']; readonly rows: readonly BudgetRow[] },
  views: readonly View[],
): Promise<(View & WithUsage)[]> {
  const limits = rows.map((row) => budgetOf(kind, row))
  const counted = await countedOf(
    em,
    limits.filter((limit) => limit !== null),
  )
  const ids = rows.map(({ id }) => id)
  const uses = kind === 'api-key' || kind === 'provider' ? await lastUsesOf(em, kind, ids) : null
  return views.map((view, at) => {
    const own = counted.get(limits[at]?.id ?? '') ?? null
    const budget = own === null ? view.usage_limits : told(view.usage_limits, own)
    return Object.assign({}, view, { usage_limits: budget, usage: own?.standing ?? null }, uses?.get(ids[at] ?? ''))
  })
}

/** Returns the view of a row with the usage of its budget. */
export async function withOwnUsage<View extends ShownLimits>(
  em: EntityManager,
  { kind, row }: { readonly kind: LimitedResource['kind']; readonly row: BudgetRow },
  view: View,
): Promise<View & WithUsage> {
  const [shown = Object.assign({}, view, { usage: null })] = await withUsage(em, { kind, rows: [row] }, [view])
  return shown
}

/** Returns true if the budget of a row is exhausted in this period. */
export async function isUsedUp(
  em: EntityManager,
  { kind, row }: { readonly kind: LimitedResource['kind']; readonly row: BudgetRow },
): Promise<boolean> {
  const limit = budgetOf(kind, row)
  const counted = limit === null ? null : ((await countedOf(em, [limit])).get(limit.id) ?? null)
  return counted !== null && isExhausted(counted)
}

const isExhausted = ({ standing, exhausted }: BudgetPeriod): boolean => standing.state === 'exhausted' || exhausted

const budgetOf = (kind: LimitedResource['kind'], { id, organisationId, usageLimits, usageResetAt, createdAt }: BudgetRow): Limit | null =>
  toGatewayLimits({
    kind,
    id,
    organisationId,
    rateLimits: null,
    usageLimits: usageLimits ?? null,
    usageFrom: usageResetAt?.getTime() ?? null,
    createdAt: createdAt.getTime(),
  })?.[0] ?? null

/** Adds the usage to a budget, or to the one of a list, and when it starts again. */
function told(budget: unknown, counted: BudgetPeriod): unknown {
  if (Array.isArray(budget)) return budget.map((each: unknown) => told(each, counted))
  if (!isFields(budget)) return budget
  const { spent, resets_at: ends } = counted.standing
  const used = {
    current_usage: spent,
    status: isExhausted(counted) ? 'exhausted' : 'active',
    last_reset_at: counted.begun,
    is_threshold_alerts_sent: counted.threshold,
    is_exhausted_alerts_sent: counted.exhausted,
  }
  return Object.assign({}, budget, used, ends !== null && { next_usage_reset_at: ends })
}
