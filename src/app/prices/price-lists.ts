import { setTimeout as pause } from 'node:timers/promises'
import type { PriceSource } from '../../gateway/ports.ts'
import { type ListedModel, rankOf } from '../../gateway/ports/prices.ts'
import type { AbilityList } from './ability-list.ts'
import type { BuiltInPrices } from './built-in.ts'
import type { Layer } from './layer.ts'
import { factsOf, firstFacts } from './model-facts.ts'
import type { PriceFile } from './price-file.ts'

/** A layer of price lists above the built-in catalogue. */
export type PriceLayer = Layer<PriceFile>

/** The price lists of one process, for those who ask more of them than a price. */
export interface PriceLists extends PriceSource {
  /** Returns a model as every layer that has it, in their order: the first one counts. */
  all(provider: string, model: string): readonly ListedModel[]
}

/** The lists of a process. */
interface Lists {
  readonly layers: readonly PriceLayer[]
  /** The layers with the abilities of models; absent: none. */
  readonly abilities?: readonly Layer<AbilityList>[]
  readonly builtIn: BuiltInPrices
}

/** The price lists of one process. Every model comes from the first layer that has it, so that a short list hides no model below it. */
export function createPriceLists({ layers, abilities = [], builtIn }: Lists): PriceLists {
  const find: PriceSource['find'] = (provider, model) => {
    for (const layer of layers) {
      const listed = inLayer(layer, provider, model)
      if (listed !== null) return listed
    }
    return inBuiltIn(builtIn, provider, model)
  }
  const all: PriceLists['all'] = (provider, model) =>
    [...layers.map((layer) => inLayer(layer, provider, model)), inBuiltIn(builtIn, provider, model)].filter((listed) => listed !== null)
  const facts: PriceSource['facts'] = (provider, model) =>
    firstFacts([
      ...abilities.map((layer) => factsOf(layer.held(provider)?.read(model) ?? {})),
      ...all(provider, model).map(({ entry }) => factsOf({ ...entry })),
    ])
  return {
    ready: (provider) => readyIn(layers, provider),
    find,
    facts,
    all,
    models: (provider) => [...(builtIn.file(provider)?.models() ?? [])],
    modeDefault: (provider) => builtIn.providers[provider]?.mode_default ?? null,
    rank: (provider, model) => rankOf({ find }, provider, model),
  }
}

/** The longest wait of a request for lists that have never been read: a source that hangs must not hold requests for as long as it does. */
const longestWaitMs = 2000

function readyIn(layers: readonly PriceLayer[], provider: string): Promise<void> | null {
  let opening: Promise<void>[] | null = null
  for (const layer of layers) {
    const reading = layer.opening(provider)
    if (reading !== null) (opening ??= []).push(reading)
  }
  return opening === null ? null : within(Promise.all(opening), longestWaitMs)
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const stop = new AbortController()
  const late = pause(ms, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)
  await Promise.race([work, late])
  stop.abort()
}

function inLayer(layer: PriceLayer, provider: string, model: string): ListedModel | null {
  const file = layer.held(provider)
  const entry = file?.find(model) ?? null
  return file === null || entry === null ? null : { entry, source: layer.name, catalogue: file.digest }
}

function inBuiltIn(builtIn: BuiltInPrices, provider: string, model: string): ListedModel | null {
  const entry = builtIn.file(provider)?.find(model) ?? null
  return entry === null ? null : { entry, source: 'built_in', catalogue: builtIn.digest }
}
