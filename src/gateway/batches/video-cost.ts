import { type BatchCost, type BatchPricing, noteModel } from './batch-cost.ts'
import { placeOf } from '../metering/region.ts'
import { priceUsage } from '../prices/price-usage.ts'
import { findPrices, type FoundPrices } from '../prices/resolve.ts'
import { deployedModel } from '../targets/azure-deployment.ts'

/** A video that a provider made; undefined: unknown. */
export interface MadeVideo {
  readonly model: string | undefined
  /** Milliseconds; 0: unknown. */
  readonly length: number
  /** Such as `1280x720` or `720p`. */
  readonly size: string | undefined
  /** Pictures of the request, which some models are paid for too. */
  readonly images: number
  /** The cost that the provider names, in pico-US-dollars; null: it names none. */
  readonly reported: bigint | null
}

/** The sizes of OpenAI's that are sold as a model of their own. */
const highSizes: ReadonlySet<string> = new Set(['1024x1792', '1792x1024', '1080x1920', '1920x1080'])

/** Prices a video by the cost in its provider's answer, or else by its length and size. */
export function videoCost({ model, length, size = '', images, reported }: MadeVideo, pricing: BatchPricing): BatchCost {
  const { target, begunAt } = pricing
  const found =
    model === undefined ? null : (pricesOf(model, size, pricing) ?? pricesOf(deployedModel(target.credential.fields, model), size, pricing))
  const facts = { startedAt: begunAt, mode: null, promptTokens: 0, ...placeOf(target, found), size, quality: null, hasTokens: false }
  const counts = { video_second: length, ...(images > 0 && isPaidByImage(found) && { input_image_each: images }) }
  const cost = priceUsage({ counts, facts, reported, estimated: false }, found)
  return {
    state: cost.state,
    amount: cost.amount ?? 0n,
    lines: cost.lines.map((line) => noteModel(line, found?.model ?? model ?? null)),
    catalogue: found?.catalogue ?? null,
    answers: 1,
    lacksPrices: cost.state === 'unpriced',
  }
}

/** Most models take pictures for free. */
const isPaidByImage = (found: FoundPrices | null): boolean =>
  found?.entry.prices.some(({ rates }) => rates.input_image_each !== undefined) === true

/** A size that is a model of its own where the provider lists it so. */
function pricesOf(model: string | null, size: string, { target, terms, prices }: BatchPricing): FoundPrices | null {
  if (model === null) return null
  const named = highSizes.has(size) ? `${model}-high-res` : model
  const query = { provider: target.providerId, sent: model, terms }
  return findPrices({ ...query, answered: named }, prices)
}
