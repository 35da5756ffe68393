import type { ModelPlaces } from '../dialect.ts'

export const models: ModelPlaces = { body: ['servingMode.modelId', 'servingMode.endpointId', 'chatRequest.model'], segments: [] }
