import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import type { Message } from './prompt-template.ts'

const name = z.string().min(1).max(255)
const functionShape = z.looseObject({ name: z.string() })

/**
 * The fields of a chat completion that a prompt stores or a request sets beside `variables`: those of the specification by their
 * types. What is not here is the provider's to judge.
 */
export const hyperparameters = {
  model: name,
  frequency_penalty: z.number(),
  logit_bias: z.record(z.string(), z.number()),
  logprobs: z.boolean(),
  top_logprobs: z.int(),
  max_tokens: z.int(),
  n: z.int(),
  presence_penalty: z.number(),
  response_format: z.looseObject({ type: z.string() }),
  seed: z.number().refine(Number.isInteger, 'must be a whole number'),
  stop: z.union([z.string(), z.array(z.string())]),
  stream: z.boolean(),
  stream_options: z.record(z.string(), z.unknown()),
  thinking: z.looseObject({ type: z.string() }),
  temperature: z.number(),
  top_p: z.number(),
  tools: z.array(z.looseObject({ type: z.string() })),
  tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]),
  parallel_tool_calls: z.boolean(),
  user: z.string(),
  function_call: z.union([z.string(), z.record(z.string(), z.unknown())]),
  functions: z.array(functionShape),
} as const satisfies Record<string, z.ZodType>

/** Each of them may be left out, or null. */
export const optionalHyperparameters: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(hyperparameters).map(([field, schema]) => [field, schema.nullable().optional()]),
)

const messages = z.array(z.looseObject({ role: z.string().min(1) })).min(1)

/** What a request says to a prompt. Unknown parameters go on: they are the provider's to judge. */
export const promptRequest = z.looseObject({
  variables: z.record(z.string(), z.unknown()).meta({ description: 'The values that the template is filled with.' }),
  ...optionalHyperparameters,
  messages: messages.optional().meta({ description: 'In place of the messages that the template makes.' }),
})

/** The values that the specification knows as null; null takes all others out. */
const nullable: ReadonlySet<string> = new Set(['logit_bias', 'stream_options'])

/** What no parameter can be: it is the prompt's, or ours. */
const notParameters: ReadonlySet<string> = new Set(['variables', 'promptID', 'prompt_id'])

export type Fields = Readonly<Record<string, unknown>>

/** The chat completion that a prompt makes: its own parameters, under those of the request, around its messages. */
export function toChatBody(stored: Fields, rendered: readonly Message[], requested: Fields): Record<string, unknown> {
  const fields = Object.entries({ ...stored, messages: rendered, ...requested }).filter(
    ([field, value]) => !notParameters.has(field) && (value !== null || nullable.has(field)),
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
