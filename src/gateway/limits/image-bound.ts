import type { Fields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { type DrawingTool, drawingToolOf } from '../dialects/openai-responses/drawn.ts'
import type { ConditionalRates } from '../prices/entry.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { priceAmount } from '../prices/price-usage.ts'
import { periodAt, type PriceFacts } from '../prices/rates.ts'
import { type FoundPrices, findPrices } from '../prices/resolve.ts'
import { toolFeesOf } from '../prices/tool-fees.ts'
import type { Target } from '../targets/target.ts'
import { tokensOfImage } from '../tokens/estimate-tokens.ts'
import { toolsOf } from '../dialects/asked-tools.ts'
import { mostCalls } from './sold-calls.ts'

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

/** No request has reason to list more tools that differ, and each is priced by itself. */
const mostTools = 8

/** Returns the most that images may cost that tools of the provider's draw for a request; 0: it lets none be drawn; null: their price is not known. */
export function drawnAmount(json: Fields, facts: PriceFacts, caller: ImageCaller): bigint | null {
  // Mistral sells the image by the call, as its other tools.
  if (toolFeesOf(caller.target.providerId)?.image !== undefined) return 0n
  const tools = drawingTools(json)
  if (tools.length > mostTools) return null
  let dearest = 0n
  for (const tool of tools) {
    const amount = toolAmount(tool, { json, facts }, caller)
    if (amount === null) return null
    if (amount > dearest) dearest = amount
  }
  return dearest
}

/** Returns the tools that draw, those that differ. */
function drawingTools(json: Fields): readonly DrawingTool[] {
  const found = new Map<string, DrawingTool>()
  for (const tool of toolsOf(json)) {
    const drawing = drawingToolOf([tool])
    if (drawing !== null) found.set(JSON.stringify(drawing), drawing)
  }
  return [...found.values()]
}

function toolAmount(
  { model, size, quality }: DrawingTool,
  { json, facts }: { readonly json: Fields; readonly facts: PriceFacts },
  { target, prices, isStrict }: ImageCaller,
): bigint | null {
  const terms = target.view?.prices ?? null
  const found = findPrices({ provider: target.providerId, answered: model, sent: model, terms }, prices)
  if (found === null) return null
  const images = Math.min(mostCalls(json), isStrict ? mostImages : usualImages)
  const asked = { ...facts, mode: null, promptTokens: 0, hasTokens: false, size: size ?? 'auto', quality: quality ?? 'auto' }
  const byImage = imageAmount({ image: images }, asked, found)
  if (byImage !== null && !(isStrict && isLarge(size))) return byImage
  const byToken = { counts: { output_image: images * tokensOfDrawn(size, isStrict) }, facts: { ...asked, hasTokens: true } }
  return dearer(byImage, priceAmount(byToken, found))
}

export const dearer = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || (other !== null && other > one) ? other : one

/** The finest square of gpt-image-2 has 7,034 tokens ($0.211 at $30 for a million), and each of up to three drafts in a stream 100. */
const mostOfSquare = 7334
const square = 1024 * 1024
/** The largest image that most models draw. */
const usualPixels = 1024 * 1536

/** Returns the tokens of an image that is drawn, by its size: more than the usual pixels have more in proportion. */
export function tokensOfDrawn(size: string | null, isStrict: boolean): number {
  const pixels = pixelsOf(size)
  if (!isStrict) return Math.ceil(tokensOfImage * Math.max(1, pixels / usualPixels))
  return isLarge(size) ? Math.ceil((mostOfSquare * pixels) / square) : mostOfSquare
}

const isLarge = (size: string | null): boolean => pixelsOf(size) > usualPixels

function pixelsOf(size: string | null): number {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/i.exec(size ?? '') ?? []
  return Number(width ?? 0) * Number(height ?? 0)
}
