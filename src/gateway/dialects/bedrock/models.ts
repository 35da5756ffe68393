import type { ModelPlaces } from '../dialect.ts'

export const models: ModelPlaces = { body: [], segments: ['model'] }
