/** The models that a workspace is offered. */
export type { OfferedModel } from '../dialects/neutral/model.ts'
export { writePrices } from '../models/model-facts.ts'
export { offeredModels } from '../models/offered-models.ts'
