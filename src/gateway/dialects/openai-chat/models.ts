import type { ModelPlaces } from '../dialect.ts'

/** Routers such as OpenRouter take the models that follow when the first fails; Azure has the model in the path. */
export const models: ModelPlaces = {
  body: ['models[*]', 'fallbacks[*]', 'compound_custom.models.answering_model', 'compound_custom.models.reasoning_model'],
  segments: ['deployments', 'engines'],
}
