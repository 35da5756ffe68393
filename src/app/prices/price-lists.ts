import type { PriceSource } from '../../gateway/ports.ts'
import { rankOf } from '../../gateway/prices/resolve.ts'
import type { BuiltInPrices } from './built-in.ts'
import type { Layer } from './layer.ts'
import type { PriceFile } from './price-file.ts'

/** A layer of price lists above the built-in catalogue. */
export type PriceLayer = Layer<PriceFile>

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
