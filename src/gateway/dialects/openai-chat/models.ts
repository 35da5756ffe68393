import type { ModelPlaces } from '../dialect.ts'

/** Routers such as OpenRouter take the models that follow when the first fails; Azure has the model in the path. */
export const models: ModelPlaces = { body: ['models[*]'], segments: ['deployments', 'engines'] }
