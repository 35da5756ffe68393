import type { Fields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { drawingToolOf } from '../dialects/openai-responses/drawn.ts'
import type { ConditionalRates } from '../prices/entry.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { priceAmount } from '../prices/price-usage.ts'
import { periodAt, type PriceFacts } from '../prices/rates.ts'
import { type FoundPrices, findPrices } from '../prices/resolve.ts'
import { toolFeesOf } from '../prices/tool-fees.ts'
import type { Target } from '../targets/target.ts'
import { tokensOfImage } from '../tokens/estimate-tokens.ts'
import { positive } from './output-bound.ts'

/** Returns the cost of images. Where a request leaves their size or quality to the model, they may be the dearest. */
export function imageAmount(counts: Counts, facts: PriceFacts, found: FoundPrices): bigint | null {
  let dearest = priceAmount({ counts, facts }, found)
  if (facts.size !== 'auto' && facts.quality !== 'auto') return dearest
  for (const rates of periodAt(found.entry, facts.startedAt)?.when ?? []) {
    const amount = priceAmount({ counts, facts: madeAs(rates, facts) }, found)
    if (dearest === null || (amount ?? 0n) > dearest) dearest = amount
  }
  return dearest
}

const madeAs = ({ size, quality }: ConditionalRates, facts: PriceFacts): PriceFacts => ({
  ...facts,
  size: facts.size === 'auto' ? (size ?? null) : facts.size,
  quality: facts.quality === 'auto' ? (quality ?? null) : facts.quality,
})

/** So many images are drawn for a request that does not bound its calls of tools; a strict limit expects as many as of other tools. */
const [usualImages, mostImages] = [1, 5] as const

interface ImageCaller {
  readonly target: Pick<Target, 'providerId' | 'view'>
  readonly prices: PriceSource
  readonly isStrict: boolean
}

/** Returns the most that images may cost that a tool of the provider's draws for a request; 0: it lets none be drawn; null: their price is not known. */
export function drawnAmount(json: Fields, facts: PriceFacts, { target, prices, isStrict }: ImageCaller): bigint | null {
  const tool = drawingToolOf(json['tools'])
  // Mistral sells the image by the call, as its other tools.
  if (tool === null || toolFeesOf(target.providerId)?.image !== undefined) return 0n
  const terms = target.view?.prices ?? null
  const found = findPrices({ provider: target.providerId, answered: tool.model, sent: tool.model, terms }, prices)
  if (found === null) return null
  const images = Math.min(positive(json['max_tool_calls']) ?? Infinity, isStrict ? mostImages : usualImages)
  const asked = { ...facts, mode: null, promptTokens: 0, hasTokens: false, size: tool.size ?? 'auto', quality: tool.quality ?? 'auto' }
  const byImage = imageAmount({ image: images }, asked, found)
  return byImage ?? priceAmount({ counts: { output_image: images * tokensOfImage }, facts: { ...asked, hasTokens: true } }, found)
}
