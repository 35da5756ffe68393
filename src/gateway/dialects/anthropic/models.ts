import type { ModelPlaces } from '../dialect.ts'

/** Models that follow when the first fails or that a tool asks, and those of the requests of a batch. */
export const models: ModelPlaces = { body: ['fallbacks[*].model', 'tools[*].model', 'requests[*].params.model'], segments: [] }
