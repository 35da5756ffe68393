import type { z } from 'zod'
import type { LoggedCharge, LoggedCostLine } from '../../gateway/ports.ts'
import type { logCost } from './cost.schema.ts'
import type { CostAdjustment, CountedAmount, LoggedCostDetails, LogDetail } from './log-fields.ts'

/** Returns the cost of a log as the API shows it. A log that no release priced has no state. */
export function presentCost(row: LogDetail): z.input<typeof logCost> {
  const adjustments = row.cost_adjustments ?? []
  const { lines, unpriced, charges, saved } = row.cost ?? noDetails
  return {
    object: 'log.cost',
    log_id: row.id,
    state: row.cost_state,
    currency: 'USD',
    cost_pico_usd: row.cost_pico,
    total_pico_usd: adjustments.at(-1)?.cost ?? row.cost_pico,
    adjustments: adjustments.map(presentAdjustment),
    saved_pico_usd: saved,
    lines: lines.map(presentLine),
    unpriced: [...unpriced],
    catalogue: row.price_catalogue,
    usage: charges.filter(({ untold }) => untold !== true).map(presentUsage),
    budgets: (row.counted ?? []).map(presentCounted),
  }
}

const presentUsage = ({ attempt, provider, priced, sent, usage, inconsistent }: LoggedCharge) => ({
  attempt,
  provider,
  model: priced ?? sent,
  inconsistent,
  usage,
})

const noDetails: LoggedCostDetails = { lines: [], unpriced: [], charges: [], saved: null }

const presentAdjustment = ({ id, recompute_id, created_at, delta, cost, state, catalogue, reason, lines }: CostAdjustment) => ({
  id,
  recompute_id,
  created_at: new Date(created_at).toISOString(),
  delta_pico_usd: delta,
  cost_pico_usd: cost,
  state,
  catalogue,
  reason,
  lines: lines.map(presentLine),
})

/** The name of a counter begins with the kind and the id of the limited resource, then `usage` and the counted unit. */
function presentCounted({ attempt, counter, amount, value_key: group }: CountedAmount) {
  const [owner_kind = '', owner_id = '', , type = ''] = counter.split(':')
  return { attempt, owner_kind, owner_id, group, type, amount }
}

const presentLine = ({ attempt, dimension, count, unit, rate, amount, source, note }: LoggedCostLine) => ({
  attempt,
  dimension,
  count,
  unit,
  rate_pico_usd: rate,
  amount_pico_usd: amount,
  source,
  note,
})
