import type { PriceSource } from '../../gateway/ports.ts'
import { rankOf } from '../../gateway/prices/resolve.ts'
import type { BuiltInPrices } from './built-in.ts'
import type { PriceFile } from './price-file.ts'

/** A layer above the built-in catalogue: what it has of a provider, in memory. */
export interface PriceLayer {
  readonly name: string
  /** Returns the list of a provider as it was last read; null: the layer has none, or has not been read yet. Never waits. */
  held(provider: string): PriceFile | null
}

/** The price lists of one process. Every model comes from the first layer that has it, so that a short list hides nothing below it. */
export function createPriceLists({
  layers,
  builtIn,
}: {
  readonly layers: readonly PriceLayer[]
  readonly builtIn: BuiltInPrices
}): PriceSource {
  const find: PriceSource['find'] = (provider, model) => {
    for (const layer of layers) {
      const file = layer.held(provider)
      const entry = file?.find(model) ?? null
      if (file !== null && entry !== null) return { entry, source: layer.name, catalogue: file.digest }
    }
    const entry = builtIn.file(provider)?.find(model) ?? null
    return entry === null ? null : { entry, source: 'built_in', catalogue: builtIn.digest }
  }
  return {
    find,
    modeDefault: (provider) => builtIn.providers[provider]?.mode_default ?? null,
    rank: (provider, model) => rankOf({ find }, provider, model),
  }
}
