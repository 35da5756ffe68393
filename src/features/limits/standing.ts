import type { EntityManager } from '@mikro-orm/postgresql'
import type { Limit } from '../../gateway/ports/limits.ts'
import { fromPico } from '../../lib/pico.ts'

/** The state of a limit: enough is left, it runs out before it starts again or is nearly used up, it is used up. */
export const limitStates = ['ok', 'at_risk', 'exhausted'] as const
export type LimitState = (typeof limitStates)[number]

/** The use of a limit, in US dollars or in the unit that it counts. */
export interface LimitUsage {
  readonly spent: number
  /** Held by processes for requests on their way, and for the next ones. */
  readonly reserved: number
  readonly limit: number
  readonly resets_at: string | null
  readonly state: LimitState
  /** When it is used up at the present pace; null: not before it starts again, or it is unused. */
  readonly runs_out_at: string | null
}

/** A budget in its period: its usage, its begin, and the alerts that were sent. */
export interface BudgetPeriod {
  readonly standing: LimitUsage
  /** When the period began; null: it has none. */
  readonly begun: string | null
  /** True: the alert of this period was noted. */
  readonly threshold: boolean
  readonly exhausted: boolean
}

interface Row {
  readonly id: string
  readonly used: string
  readonly reserved: string
  readonly begun: number | null
  readonly ends: number | null
  readonly now: number
  readonly told: readonly string[] | null
}

/** SQL of the alerts that were noted in the period of a limit. */
const alertsOfPeriod = `(SELECT array_agg(a.kind) FROM limit_alerts a
           WHERE a.counter = g.id AND a.rearmed_at IS NULL AND (NOT isfinite(s.begun) OR a.created_at >= s.begun))`

/** Returns SQL of the usage of limits, with the columns of `told` from their alerts. */
const standingOf = (told: string): string => `
  SELECT g.id, s.used, s.reserved, ${epochMs('s.begun')} AS begun, ${epochMs('s.ends')} AS ends, ${epochMs('clock_timestamp()')} AS now,
         ${told} AS told
    FROM json_to_recordset(?::json) AS g (id text, "slotMs" bigint, slots integer, reset text, days integer, anchor timestamptz),
         LATERAL limit_standing(g.id, g."slotMs", g.slots, g.reset, g.days, g.anchor) s`

function epochMs(moment: string): string {
  return `CASE WHEN isfinite(${moment}) THEN (extract(epoch FROM ${moment}) * 1000)::float8 END`
}

/** Returns how limits stand, by their ids. */
export const standingsOf = (em: EntityManager, limits: readonly Limit[]): Promise<ReadonlyMap<string, LimitUsage>> =>
  byId(em, limits, { told: 'NULL::text[]', present: toStanding })

/** Returns the same with the periods of budgets. */
export const countedOf = (em: EntityManager, limits: readonly Limit[]): Promise<ReadonlyMap<string, BudgetPeriod>> =>
  byId(em, limits, { told: alertsOfPeriod, present: toCounted })

async function byId<T>(
  em: EntityManager,
  limits: readonly Limit[],
  { told, present }: { readonly told: string; readonly present: (limit: Limit, row: Row) => T },
): Promise<ReadonlyMap<string, T>> {
  if (limits.length === 0) return new Map()
  const windows = JSON.stringify(limits.map(({ id, window }) => Object.assign({ id }, window)))
  const rows = new Map((await em.execute<Row[]>(standingOf(told), [windows])).map((row) => [row.id, row]))
  return new Map(
    limits.flatMap((limit) => {
      const row = rows.get(limit.id)
      return row === undefined ? [] : [[limit.id, present(limit, row)] as const]
    }),
  )
}

const picoPerNano = 1000n
const shown = ({ counts }: Limit, amount: number | string): number =>
  counts === 'cost' ? fromPico(BigInt(Math.round(Number(amount))) * picoPerNano) : Number(amount)

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const toCounted = (limit: Limit, row: Row): BudgetPeriod => ({
  standing: toStanding(limit, row),
  begun: iso(row.begun),
  threshold: row.told?.includes('threshold') === true,
  exhausted: row.told?.includes('exhausted') === true,
})

function toStanding(limit: Limit, row: Row): LimitUsage {
  const used = Number(row.used)
  const runsOut = runsOutAt(limit, used, row)
  return {
    spent: shown(limit, row.used),
    reserved: shown(limit, row.reserved),
    limit: shown(limit, limit.value),
    resets_at: iso(row.ends),
    state: used >= limit.value ? 'exhausted' : runsOut !== null || isNearlyUsed(limit, used) ? 'at_risk' : 'ok',
    runs_out_at: iso(runsOut),
  }
}

/** A limit without an alert of its own is nearly used up from here on. */
const nearly = 0.8

const isNearlyUsed = ({ value, budget }: Limit, used: number): boolean => used >= (budget?.threshold ?? value * nearly)

/** A budget that never starts again is at risk when it lasts no longer. */
const soonMs = 7 * 24 * 3_600_000

/** Figures of a shorter time predict little. */
const leastSeenMs = 3_600_000

/** Returns the moment at which a budget is used up at the pace of this period; null: not before its end, not soon, or still unknown. */
function runsOutAt({ kind, value }: Limit, used: number, { begun, ends, now }: Row): number | null {
  if (kind === 'rate' || begun === null || used <= 0 || used >= value || now < begun + leastSeenMs) return null
  const at = now + ((value - used) * (now - begun)) / used
  return at < (ends ?? now + soonMs) ? at : null
}
