import { providers } from '../../gateway/providers/catalog.ts'
import type { Provider } from '../../gateway/providers/provider.ts'

/** The catalogue of providers as data: which hosts a firewall must let through, and what each serves. */
export function catalogueData(): string {
  const rows = Object.entries<Provider>(providers).map(([id, { dialect, baseUrl, serves, variants = [] }]) => ({
    id,
    dialect,
    base_urls: [...new Set([baseUrl, ...variants.map((variant) => variant.baseUrl)])].filter((url) => url !== null),
    serves,
  }))
  return `${JSON.stringify({ providers: rows }, null, 2)}\n`
}
