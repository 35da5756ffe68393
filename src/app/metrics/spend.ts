import type { Registry } from 'prom-client'
import { findProvider } from '../../gateway/providers/catalog.ts'
import { type CounterCell, counterFamily } from './cells.ts'

const picoDollars = 1e12

/** Registers what is spent, and gives the function that counts the cost of one attempt. A graph needs no exact amount: logs and budgets have it. */
export function spendCounter(registry: Registry): (provider: string, pico: bigint) => void {
  const family = counterFamily(registry, {
    name: 'gateway_cost_usd_total',
    help: 'What providers charge for requests, in US dollars by the price lists.',
    labelNames: ['provider'],
  })
  const cells = new Map<string, CounterCell>()
  return (provider, pico) => {
    const name = findProvider(provider) === null ? 'other' : provider
    const cell = cells.get(name) ?? family({ provider: name })
    cells.set(name, cell)
    cell.value += Number(pico) / picoDollars
  }
}
