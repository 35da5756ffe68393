import { ApiError } from '../../lib/errors.ts'
import { nullableParameters } from '../dialects/openai-chat/parameters.ts'
import type { Message } from './prompt-template.ts'

/** The names that no parameter can have: they are the prompt's, or ours. */
const notParameters: ReadonlySet<string> = new Set(['variables', 'promptID', 'prompt_id'])

export type Fields = Readonly<Record<string, unknown>>

/** The chat completion that a prompt makes: its own parameters, under those of the request, around its messages. */
export function toChatBody(stored: Fields, rendered: readonly Message[], requested: Fields): Record<string, unknown> {
  const fields = Object.entries({ ...stored, messages: rendered, ...requested }).filter(
    ([field, value]) => !notParameters.has(field) && (value !== null || nullableParameters.has(field)),
  )
  return Object.fromEntries(fields)
}

/** Refuses parameters that belong at the root: a nested one has no effect, which would go unnoticed. */
export function refuseNested(body: Fields): void {
  if (!Object.hasOwn(body, 'hyperparameters')) return
  throw new ApiError(
    'invalid_request',
    'Hyperparameters stand at the root of the body, beside `variables`, and not in `hyperparameters`.',
    {
      param: 'hyperparameters',
    },
  )
}
