import type { z } from 'zod'
import type { LoggedCostLine } from '../../gateway/ports.ts'
import type { logCost } from './cost.schema.ts'
import type { LogDetail } from './log-fields.ts'

/** Returns the cost of a log as the API shows it. A log that no release priced has no state. */
export function presentCost({ id, cost_pico, cost_state, price_catalogue, cost }: LogDetail): z.input<typeof logCost> {
  return {
    object: 'log.cost',
    log_id: id,
    state: cost_state,
    currency: 'USD',
    cost_pico_usd: cost_pico,
    saved_pico_usd: cost?.saved ?? null,
    lines: (cost?.lines ?? []).map(presentLine),
    unpriced: [...(cost?.unpriced ?? [])],
    catalogue: price_catalogue,
    usage: (cost?.charges ?? []).map(({ attempt, provider, priced, sent, usage }) => ({ attempt, provider, model: priced ?? sent, usage })),
  }
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
