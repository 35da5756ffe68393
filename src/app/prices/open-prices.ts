import { pricePlaces } from '../../config/effect.ts'
import type { PriceSource } from '../../gateway/ports.ts'
import type { Deps } from '../deps.ts'
import { openBuiltIn } from './built-in.ts'
import { createLayer, type LayerSource } from './layer.ts'
import { folderSource, proxySource } from './layer-sources.ts'
import { createPriceLists } from './price-lists.ts'

/** Opens the price lists of a process: the layers that the settings name, in their order, above the catalogue of the installation. */
export function openPrices({
  config,
  egress,
  log,
  metrics,
  clock,
  level,
}: Pick<Deps, 'config' | 'egress' | 'log' | 'metrics' | 'clock' | 'level'>): PriceSource {
  const layers = sourcesOf(pricePlaces(config, level), egress).map((source) =>
    createLayer({
      source,
      now: () => clock.now(),
      random: Math.random,
      failed: (provider, reason) =>
        log.warn({ layer: source.name, provider, reason }, 'a price list cannot be used; the one before it, or the next layer, is'),
    }),
  )
  for (const { name, stats } of layers) {
    metrics.measure('gateway_price_lists', () => stats().held, { layer: name })
    metrics.measure('gateway_price_lists_failing', () => stats().failing, { layer: name })
  }
  return createPriceLists({ layers, builtIn: openBuiltIn() })
}

function sourcesOf({ proxyUrl, logStorePath, localPath }: Deps['config']['prices'], egress: Deps['egress']): readonly LayerSource[] {
  return [
    ...(proxyUrl === null ? [] : [proxySource(proxyUrl, egress)]),
    ...(logStorePath === null ? [] : [folderSource('log_store', logStorePath)]),
    ...(localPath === null ? [] : [folderSource('local', localPath)]),
  ]
}
