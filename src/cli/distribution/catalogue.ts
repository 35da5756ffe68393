import { providers, type Provider } from '../../gateway/ports/providers.ts'

/** The catalogue of providers as data: the hosts that a firewall must let through, and the dialects of each provider. */
export function catalogueData(): string {
  const rows = Object.entries<Provider>(providers).map(([id, { api, baseUrl, speaks, variants = [] }]) => ({
    id,
    api,
    base_urls: [...new Set([baseUrl, ...variants.map((variant) => variant.baseUrl)])].filter((url) => url !== null),
    speaks: speaks.map(({ operation, dialect }) => ({ operation, dialect })),
  }))
  return `${JSON.stringify({ providers: rows }, null, 2)}\n`
}
