/** Jobs that a provider finishes later: asking for them, and their cost. */
export { askBatch, type AskedProvider, eachAnswer, type FileBounds, type ToldBatch } from '../batches/ask-batch.ts'
export { type BatchCost, type BatchPricing, sumBatch } from '../batches/batch-cost.ts'
export type { Deletion } from '../batches/deletion.ts'
export { videoCost } from '../batches/video-cost.ts'
