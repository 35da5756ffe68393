import { providers } from '../../gateway/providers/catalog.ts'
import type { Provider } from '../../gateway/providers/provider.ts'

/** The catalogue of providers as data: which hosts a firewall must let through, and what each speaks. */
export function catalogueData(): string {
  const rows = Object.entries<Provider>(providers).map(([id, { api, baseUrl, speaks, variants = [] }]) => ({
    id,
    api,
    base_urls: [...new Set([baseUrl, ...variants.map((variant) => variant.baseUrl)])].filter((url) => url !== null),
    speaks: speaks.map(({ operation, dialect }) => ({ operation, dialect })),
  }))
  return `${JSON.stringify({ providers: rows }, null, 2)}\n`
}
