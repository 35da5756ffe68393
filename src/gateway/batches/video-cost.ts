import { type BatchCost, type BatchPricing, noteModel } from './batch-cost.ts'
import { placeOf } from '../metering/region.ts'
import { priceUsage } from '../prices/price-usage.ts'
import { findPrices } from '../prices/resolve.ts'

/** A video that a provider made. */
export interface MadeVideo {
  readonly model: string
  /** Milliseconds. */
  readonly length: number
  /** Such as `1280x720`. */
  readonly size: string
}

/** The sizes of OpenAI's that are sold as a model of their own. */
const highSizes: ReadonlySet<string> = new Set(['1024x1792', '1792x1024', '1080x1920', '1920x1080'])

/** Prices a video by its length and size. */
export function videoCost({ model, length, size }: MadeVideo, { target, terms, prices, begunAt }: BatchPricing): BatchCost {
  const answered = highSizes.has(size) ? `${model}-high-res` : model
  const found = findPrices({ provider: target.providerId, answered, sent: model, terms }, prices)
  const facts = { startedAt: begunAt, mode: null, promptTokens: 0, ...placeOf(target, found), size, quality: null, hasTokens: false }
  const cost = priceUsage({ counts: { video_second: length }, facts, reported: null, estimated: false }, found)
  return {
    state: cost.state,
    amount: cost.amount ?? 0n,
    lines: cost.lines.map((line) => noteModel(line, found?.model ?? model)),
    catalogue: found?.catalogue ?? null,
    answers: 1,
  }
}
