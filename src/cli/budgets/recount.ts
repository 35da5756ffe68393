import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import { fromPico } from '../../lib/pico.ts'
import type { Installation } from '../installation.ts'

/** A budget whose counter differs from the logs of its period. */
export interface Difference {
  readonly counter: string
  readonly counts: string
  readonly counted: number
  readonly logged: number
  readonly repaired: boolean
}

interface Budget {
  readonly counter: string
  readonly slot: string
  readonly counts: string
  /** In the units of the counter. */
  readonly counted: string
  readonly since: Date | string
  /** False: logs of the period are no longer kept. */
  readonly is_whole: boolean
}

interface LoggedAmount {
  readonly counter: string
  readonly slot: string
  readonly amount: string
}

/**
 * Compares the counters of budgets with the amounts in the logs; `repair` sets the counters to those amounts. Budgets whose period began before the
 * oldest log that is kept are left out.
 */
export const recount = ({ orm }: Pick<Installation, 'orm'>, repair: boolean) =>
  asSystem(orm, async (em) => {
    const budgets = await em.execute<Budget[]>('SELECT * FROM counted_budgets()')
    const whole = budgets.filter(({ is_whole }) => is_whole)
    const logged = await loggedSince(em, Math.min(...whole.map(({ since }) => new Date(since).getTime())))
    const compared = whole.map((budget) => Object.assign(budget, { logged: logged.get(keyOf(budget)) ?? 0n }))
    const different = compared.filter(differs)
    if (repair)
      for (const budget of different)
        await em.execute('SELECT correct_limit(?, ?, ?)', [budget.counter, budget.slot, String(unitsOf(budget) - BigInt(budget.counted))])
    return {
      budgets: budgets.length,
      left_out: budgets.length - whole.length,
      differences: different.map((budget) => toDifference(budget, repair)),
    }
  })

const hourMs = 3_600_000
/** Requests are logged under the time at which they began, by the clock of their process. */
const marginMs = hourMs

const spentOf = `
  SELECT b ->> 1 AS counter, b ->> 2 AS slot, sum((b ->> 3)::numeric)::text AS amount
    FROM logs l, jsonb_array_elements(l.budgets) b
   WHERE l.created_at >= ?::timestamptz AND l.created_at < ?::timestamptz AND l.budgets IS NOT NULL
   GROUP BY 1, 2`
const adjustedOf = `
  SELECT b ->> 0 AS counter, b ->> 1 AS slot, sum((b ->> 2)::numeric)::text AS amount
    FROM cost_adjustments a, jsonb_array_elements(a.budgets) b
   GROUP BY 1, 2`

/** Sums the amounts of logs and adjustments, by counter and period. Logs are read by the hour: no statement takes long. */
async function loggedSince(em: EntityManager, since: number): Promise<ReadonlyMap<string, bigint>> {
  const sums = new Map<string, bigint>()
  const add = (rows: readonly LoggedAmount[]) => {
    for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0n) + BigInt(row.amount))
  }
  if (!Number.isFinite(since)) return sums
  const end = Date.now() + marginMs
  for (let from = since - marginMs; from < end; from += hourMs)
    add(await em.execute<LoggedAmount[]>(spentOf, [new Date(from).toISOString(), new Date(Math.min(from + hourMs, end)).toISOString()]))
  add(await em.execute<LoggedAmount[]>(adjustedOf))
  return sums
}

const keyOf = ({ counter, slot }: Pick<LoggedAmount, 'counter' | 'slot'>): string => `${slot} ${counter}`

type BudgetComparison = Budget & { readonly logged: bigint }

const picoPerNano = 1000n

/** Counters of money are in nano-dollars, rounded up. */
const unitsOf = ({ counts, logged }: BudgetComparison): bigint => (counts === 'cost' ? (logged + picoPerNano - 1n) / picoPerNano : logged)

/** Each process rounds up to the nano-dollar and keeps the difference. */
const roundedBy = 1000n

function differs(budget: BudgetComparison): boolean {
  const by = BigInt(budget.counted) - unitsOf(budget)
  return budget.counts === 'cost' ? by > roundedBy || by < -roundedBy : by !== 0n
}

const shown = (counts: string, units: bigint): number => (counts === 'cost' ? fromPico(units * picoPerNano) : Number(units))

const toDifference = (budget: BudgetComparison, repaired: boolean): Difference => ({
  counter: budget.counter,
  counts: budget.counts,
  counted: shown(budget.counts, BigInt(budget.counted)),
  logged: shown(budget.counts, unitsOf(budget)),
  repaired,
})
