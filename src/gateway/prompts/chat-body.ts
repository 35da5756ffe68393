import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { nullableParameters, optionalParameters } from '../dialects/openai-chat/parameters.ts'
import type { Message } from './prompt-template.ts'

const messages = z.array(z.looseObject({ role: z.string().min(1) })).min(1)

/** A request to a prompt. Unknown parameters go on: they are the provider's to judge. */
export const promptRequest = z.looseObject({
  variables: z.record(z.string(), z.unknown()).meta({ description: 'The values that the template is filled with.' }),
  ...optionalParameters,
  messages: messages.optional().meta({ description: 'In place of the messages that the template makes.' }),
})

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

/** Refuses what belongs at the root: a parameter that is nested has no effect, which nobody would notice. */
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
