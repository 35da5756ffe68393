import { z } from 'zod'
import { describedMessage, optionalParameters } from '../dialects/openai-chat/parameters.ts'

const messages = z.array(z.looseObject({ role: z.string().min(1), ...describedMessage })).min(1)

/** A request to a prompt. Unknown parameters go on: they are the provider's to judge. */
export const promptRequest = z.looseObject({
  variables: z.record(z.string(), z.unknown()).meta({ description: 'The values that the template is filled with.' }),
  ...optionalParameters,
  messages: messages.optional().meta({ description: 'The messages, in place of those of the template.' }),
})

/** The body of a chat completion, as it is described; a provider judges it. */
export const chatRequest = z
  .looseObject({ ...optionalParameters, messages })
  .meta({ description: "A chat completion to create. Other fields are the provider's own." })
