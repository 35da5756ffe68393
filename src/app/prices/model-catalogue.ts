import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { pricePlaces } from '../../config/effect.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import type { Fields } from '../../lib/json/fields.ts'
import { findProvider } from '../../gateway/ports/providers.ts'
import type { Level } from '../../release/level.ts'
import type { LogStore } from '../log-store/log-store.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type AbilityList, abilitiesOf, readAbilityList } from './ability-list.ts'
import { type BuiltInPrices, openBuiltIn } from './built-in.ts'
import { createLayer, type LayerSource, type LayerStats, type LiveLayer, type ListDigest } from './layer.ts'
import { folderSource, type ListKind, logStoreSource, proxySource } from './layer-sources.ts'
import type { PriceFile } from './price-file.ts'
import { createPriceLists, type PriceLists } from './price-lists.ts'
import { readPriceList } from './read-list.ts'

/** The prices and abilities of models, as this process has them. */
export interface ModelCatalogue {
  readonly prices: PriceLists
  /** Returns the abilities of a model, and the layer that they are from; null: no list has them. */
  abilities(provider: string, model: string): ListedAbilities | null
  /** Resolves when the lists of a provider were read, or could not be. */
  ready(kind: ListKind, provider: string): Promise<void>
  /** Milliseconds since a layer read its list of a provider; null: it has none, or brings it with the installation. */
  ageMs(kind: ListKind, layer: string, provider: string): number | null
  /** The layers in their order; the last is the catalogue of the installation. */
  layers(): readonly LayerState[]
  /** The day on which the built-in catalogue was made. */
  readonly asOf: string
}

export interface ListedAbilities {
  readonly abilities: Fields
  readonly source: string
  readonly catalogue: string
}

/** A layer, and how it is. */
export interface LayerState extends LayerStats {
  readonly kind: ListKind
  readonly name: string
}

/** The services of the process that the layers use. */
export interface CatalogueOptions {
  readonly config: Config
  readonly egress: Egress
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: { now(): number }
  readonly level: Level
  /** Null: the paths of the log store are folders. */
  readonly logStore: LogStore | null
}

/** Opens the lists of a process: the layers that the settings name, in their order, above the catalogue of the installation. */
export function openCatalogue(options: CatalogueOptions): ModelCatalogue {
  const builtIn = openBuiltIn()
  const layers = {
    pricing: openLayers<PriceFile>('pricing', (bytes, provider) => readPriceList(bytes, provider, builtIn), options),
    general: openLayers<AbilityList>('general', readAbilityList, options),
  }
  const isKnown = (provider: string) => Object.hasOwn(builtIn.providers, provider) || findProvider(provider) !== null
  options.metrics.state('gateway_price_list_info', () => [
    ...versionsOf('pricing', layers.pricing, isKnown),
    ...versionsOf('general', layers.general, isKnown),
    { kind: 'pricing', layer: 'built_in', provider: 'all', digest: builtIn.digest },
  ])
  const bundled: LayerStats = { held: listsOf(builtIn), failing: 0, ageMs: null, fault: null }
  const stated = (kind: ListKind) => [
    ...layers[kind].map(({ name, stats }) => ({ kind, name, ...stats() })),
    { kind, name: 'built_in', ...bundled },
  ]
  return {
    prices: createPriceLists({ layers: layers.pricing, abilities: layers.general, builtIn }),
    asOf: builtIn.asOf,
    layers: () => [...stated('pricing'), ...stated('general')],
    ageMs: (kind, layer, provider) => layers[kind].find(({ name }) => name === layer)?.ageMs(provider) ?? null,
    async ready(kind, provider) {
      await Promise.all(layers[kind].map((layer) => layer.ready(provider)))
    },
    abilities(provider, model) {
      for (const layer of layers.general) {
        const list = layer.held(provider)
        const abilities = list?.read(model) ?? null
        if (list !== null && abilities !== null) return { abilities, source: layer.name, catalogue: list.digest }
      }
      const line = builtIn.file(provider)?.read(model) ?? null
      return line === null ? null : { abilities: abilitiesOf(line), source: 'built_in', catalogue: builtIn.digest }
    },
  }
}

/** For some providers the catalogue has no price, only how they sell. */
const listsOf = ({ providers }: Pick<BuiltInPrices, 'providers'>): number =>
  Object.values(providers).filter(({ models }) => models > 0).length

/** Callers may name unknown providers: those are no labels. */
const versionsOf = (kind: ListKind, layers: readonly LiveLayer<ListDigest>[], isKnown: (provider: string) => boolean) =>
  layers.flatMap((layer) =>
    layer
      .versions()
      .filter(({ provider }) => isKnown(provider))
      .map(({ provider, digest }) => ({ kind, layer: layer.name, provider, digest })),
  )

function openLayers<List extends ListDigest>(
  kind: ListKind,
  parse: (bytes: Buffer, provider: string) => List,
  options: CatalogueOptions,
): readonly LiveLayer<List>[] {
  const { config, log, metrics, clock, level } = options
  const layers = sourcesOf(kind, pricePlaces(config, level), options).map((source) =>
    createLayer({
      source,
      parse,
      now: () => clock.now(),
      random: Math.random,
      failed: (provider, reason) =>
        log.warn(
          { kind, layer: source.name, provider, reason },
          'a list of models cannot be used; the one before it, or the next layer, is',
        ),
    }),
  )
  for (const { name, stats } of layers) {
    const labels = { kind, layer: name }
    metrics.measure('gateway_price_lists', () => stats().held, labels)
    metrics.measure('gateway_price_lists_failing', () => stats().failing, labels)
    metrics.measure('gateway_price_lists_age_seconds', () => Math.round((stats().ageMs ?? 0) / 1000), labels)
  }
  return layers
}

function sourcesOf(kind: ListKind, places: Config['prices'], { egress, logStore }: CatalogueOptions): readonly LayerSource[] {
  const isPricing = kind === 'pricing'
  const logStorePath = isPricing ? places.logStorePath : places.abilitiesLogStorePath
  const localPath = isPricing ? places.localPath : places.abilitiesLocalPath
  return [
    ...(places.proxyUrl === null ? [] : [proxySource(places.proxyUrl, kind, egress)]),
    ...(logStorePath === null
      ? []
      : [logStore === null ? folderSource('log_store', logStorePath) : logStoreSource(logStore, logStorePath)]),
    ...(localPath === null ? [] : [folderSource('local', localPath)]),
  ]
}
