import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { longestName, nameLikenesses } from '../../lib/text/likenesses.ts'
import { formCost, mostFormCost } from './form-costs.ts'

interface PricedThing {
  readonly kind: CapabilityKind
  readonly name: string
  /** Null: it has no price of its own. */
  readonly price: bigint | null
}

/**
 * Returns a function that finds the price of one call of a tool. A tool without a price of its own costs as much as the dearest one for which its server
 * may take it. `usual`: the price of a tool that has none; null: it is free.
 */
export function priceFinder(things: readonly PricedThing[], usual: bigint | null): (tool: string) => bigint {
  const own = new Map<string, bigint>()
  for (const { kind, name, price } of things) if (kind === 'tool' && price !== null) own.set(name, price)
  let alike: FormPrices | null = null
  return (tool) => {
    const known = own.get(tool)
    if (known !== undefined || own.size === 0 || tool.length > longestName) return known ?? usual ?? 0n
    alike ??= pricesByForm(own)
    const { byForm, least } = alike
    return dearest([usual ?? 0n, least, ...nameLikenesses(tool).forms.map((form) => byForm.get(form) ?? 0n)])
  }
}

interface FormPrices {
  readonly byForm: ReadonlyMap<string, bigint>
  /** The dearest price of those whose forms would take too long to make. */
  readonly least: bigint
}

function pricesByForm(prices: ReadonlyMap<string, bigint>): FormPrices {
  const byForm = new Map<string, bigint>()
  let [least, left] = [0n, mostFormCost]
  for (const [name, price] of prices) {
    left -= formCost('tool', name)
    if (left < 0) least = dearest([least, price])
    else for (const form of nameLikenesses(name).forms) byForm.set(form, dearest([price, byForm.get(form) ?? 0n]))
  }
  return { byForm, least }
}

const dearest = (prices: readonly bigint[]): bigint => prices.reduce((most, price) => (price > most ? price : most), 0n)
