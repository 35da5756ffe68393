import { errorBody } from '../../../lib/errors.ts'
import type { ModelLists, OwnAnswers } from '../dialect.ts'

export const models: ModelLists = {
  list: (offered) => ({ object: 'list', data: offered.map((model) => models.one(model)) }),
  one: ({ id, created, provider }) => ({ id, object: 'model', created, owned_by: provider }),
}

export const ownAnswers: OwnAnswers = {
  errorBody,
  errorEvent: (error, requestId) => `data: ${JSON.stringify(errorBody(error, requestId))}\n\n`,
  models,
}
