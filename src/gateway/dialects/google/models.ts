import type { ModelPlaces } from '../dialect.ts'

/** Bodies repeat the model of the path, as `models/gemini-2.5-flash`. */
export const models: ModelPlaces = {
  body: ['generateContentRequest.model', 'requests[*].model'],
  segments: ['models', 'endpoints', 'tunedModels'],
}
