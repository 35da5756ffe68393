import { errorBody } from '../../../lib/errors.ts'
import type { ModelLists, OwnAnswers } from '../dialect.ts'

export const models: ModelLists = {
  list: (offered) => ({ object: 'list', data: offered.map((model) => models.one(model)) }),
  one: ({ id, created, provider, listedBy, details }) => ({
    id,
    object: 'model',
    created,
    owned_by: provider,
    listed_by: listedBy,
    context_window: details.contextWindow,
    max_output_tokens: details.maxOutput,
    input_modalities: details.input,
    output_modalities: details.output,
    capabilities: details.abilities,
    pricing: details.prices,
  }),
}

export const ownAnswers: OwnAnswers = {
  errorBody,
  errorEvent: (error, requestId) => `data: ${JSON.stringify(errorBody(error, requestId))}\n\n`,
  models,
}
