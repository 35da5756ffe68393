import type { ModelPlaces } from '../dialect.ts'

/** The tool that draws has a model of its own. */
export const models: ModelPlaces = { body: ['tools[*].model'], segments: [] }
