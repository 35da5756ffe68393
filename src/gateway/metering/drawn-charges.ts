import type { Counts } from '../dialects/neutral/counts.ts'
import { promptTokens } from '../dialects/neutral/disjoint.ts'
import type { DrawnImages } from '../dialects/neutral/drawn.ts'
import { readCounts } from '../dialects/openai-responses/billed.ts'
import { drawingModel, drawingToolOf } from '../dialects/openai-responses/drawn.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { type Cost, priceUsage } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import { findPrices, type FoundPrices } from '../prices/resolve.ts'
import type { IntegrationPrices } from '../prices/terms.ts'
import { tokensOfImage } from '../tokens/estimate-tokens.ts'
import type { Charge } from './charge.ts'
import type { MeteredUsage } from './meter.ts'
import { by } from './runs.ts'

/** An answer for which a tool drew images, as far as their price depends on it. */
interface DrawingContext {
  readonly drawn: DrawnImages
  /** The usage of the answer itself. */
  readonly metered: MeteredUsage
  readonly facts: PriceFacts
  readonly provider: string
  readonly terms: IntegrationPrices | null
  readonly prices: PriceSource
  /** The tools of the request. */
  readonly tools: unknown
}

/** Images as they are sold: by the piece or by their tokens. */
interface ImageSale {
  readonly counts: Counts
  readonly estimated: boolean
  readonly size: string | null
  readonly quality: string | null
}

/**
 * Charges the images that a tool of the provider's drew, at the prices of the model that drew them: by the tokens of the answer, or else by the
 * size and the quality of each, or as many tokens as the finest has. A model without a price leaves them unpriced.
 */
export function drawnCharges(of: DrawingContext): readonly Charge[] {
  const { drawn, provider, terms, prices, tools } = of
  const model = drawingModel(drawn, tools)
  const found = findPrices({ provider, answered: model, sent: model, terms }, prices)
  return waysOf(drawn, found, tools).map((sold) => chargeOf(sold, { ...of, model, found }))
}

function waysOf(drawn: DrawnImages, found: FoundPrices | null, tools: unknown): readonly ImageSale[] {
  const counts = drawn.usage === null ? {} : readCounts(drawn.usage, { isImage: true }).counts
  const tool = drawingToolOf(tools)
  const plain = { estimated: false, size: tool?.size ?? null, quality: tool?.quality ?? null }
  if (found === null) return [{ ...plain, counts: { image: Math.max(1, drawn.images.length) } }]
  if (promptTokens(counts) + (counts.output_image ?? 0) > 0) return [{ ...plain, counts }]
  return [...Map.groupBy(drawn.images, ({ size, quality }) => JSON.stringify([size, quality])).values()].map((images) => ({
    counts: { image: images.length },
    estimated: false,
    size: images[0]?.size ?? plain.size,
    quality: images[0]?.quality ?? plain.quality,
  }))
}

function chargeOf(sold: ImageSale, of: DrawingContext & { readonly model: string; readonly found: FoundPrices | null }): Charge {
  const { found, model } = of
  const byImage = priced(sold, of)
  const isTokens = found !== null && byImage.cost.state === 'unpriced' && sold.counts.image !== undefined
  const { counts, estimated, facts, cost } = isTokens
    ? priced({ ...sold, counts: { output_image: (sold.counts.image ?? 1) * tokensOfImage }, estimated: true }, of)
    : byImage
  const { usage: raw } = of.drawn
  return {
    metered: { ...of.metered, ...facts, model, counts, estimated, raw, usage: null, reported: null, inconsistent: false, drawn: null },
    cost: {
      ...cost,
      lines: cost.lines.map((line) => by(model, line)),
    },
    pricedModel: found?.model ?? null,
    catalogue: found?.catalogue ?? null,
    facts,
    saved: null,
    asked: model,
    parts: null,
  }
}

function priced(
  { counts, estimated, size, quality }: ImageSale,
  { facts: own, found }: DrawingContext & { readonly found: FoundPrices | null },
) {
  const tokens = promptTokens(counts) + (counts.output_image ?? 0)
  // A tool has no tier.
  const facts: PriceFacts = { ...own, mode: null, promptTokens: promptTokens(counts), size, quality, hasTokens: tokens > 0 }
  const cost: Cost = priceUsage({ counts, facts, reported: null, estimated }, found)
  return { counts, estimated, facts, cost }
}
