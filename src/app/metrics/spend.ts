import type { Registry } from 'prom-client'
import { mcpOperation } from '../../gateway/ports/operations.ts'
import { findProvider } from '../../gateway/ports/providers.ts'
import { type CounterCell, counterFamily } from './cells.ts'

const picoDollars = 1e12

/** Registers the spend metrics, and returns the function that counts the cost of one attempt. A graph needs no exact amount: logs and budgets have it. */
export function spendCounter(registry: Registry): (provider: string, pico: bigint) => void {
  const cellOf = byProvider(registry, 'gateway_cost_usd_total', 'The cost of requests, in US dollars by the price lists.')
  return (provider, pico) => {
    cellOf(provider).value += Number(pico) / picoDollars
  }
}

/** Registers how often the figures of usage contradict each other, and gives the function that counts one attempt. */
export function contradictionCounter(registry: Registry): (provider: string) => void {
  const help = 'Attempts whose usage objects contradict themselves: a part above its whole, a total that is no sum, a count below 0.'
  const cellOf = byProvider(registry, 'gateway_usage_inconsistent_total', help)
  return (provider) => {
    cellOf(provider).value += 1
  }
}

/** Opens a family of counters by provider. */
function byProvider(registry: Registry, name: string, help: string): (provider: string) => CounterCell {
  const family = counterFamily(registry, { name, help, labelNames: ['provider'] })
  const cells = new Map<string, CounterCell>()
  return (provider) => {
    const known = provider !== mcpOperation && findProvider(provider) === null ? 'other' : provider
    const cell = cells.get(known) ?? family({ provider: known })
    cells.set(known, cell)
    return cell
  }
}
