import type { EntityManager } from '@mikro-orm/postgresql'
import type { LimitedResource } from '../../gateway/ports/limits.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Level } from '../../release/level.ts'
import { isUsedUp, type BudgetRow } from './shown-usage.ts'
import type { UsageLimits } from './limits.schema.ts'

type Budgets = UsageLimits | readonly UsageLimits[] | null | undefined

/** A change of a budget. */
interface BudgetChange {
  readonly kind: LimitedResource['kind']
  /** As it is before the change. */
  readonly row: BudgetRow
  /** Undefined: the budget stays. */
  readonly wanted: Budgets
  readonly reset: boolean | undefined
  /** The field of the body that names the budget. */
  readonly param?: string
}

/** Refuses a higher limit for a budget that is used up, at a level where only a reset, or the next period, makes it active again. */
export async function demandReactivation(em: EntityManager, level: Pick<Level, 'atLeast'>, change: BudgetChange): Promise<void> {
  const { kind, row, wanted, reset, param = 'usage_limits' } = change
  if (level.atLeast('1.7.0') || reset === true) return
  const [before, after] = [budgetIn(row.usageLimits), budgetIn(wanted)]
  if (before === null || after === null || creditOf(after) <= creditOf(before)) return
  if (!(await isUsedUp(em, { kind, row }))) return
  const said =
    'The budget is exhausted, and a higher limit makes it active again from release 1.7.0 on: send reset_usage: true with it, or wait for its next period.'
  throw new ApiError('AB01', said, { param })
}

const budgetIn = (budgets: Budgets): UsageLimits | null => (budgets && ('credit_limit' in budgets ? budgets : budgets[0])) ?? null

const creditOf = ({ credit_limit: credit }: UsageLimits): number => credit ?? Infinity
