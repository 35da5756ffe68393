import { z } from 'zod'

const name = z.string().min(1).max(255)
const functionShape = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})

/** The fields of a message beside its role. */
export const describedMessage = {
  content: z
    .union([z.string(), z.array(z.record(z.string(), z.unknown()))])
    .nullish()
    .meta({ description: 'A text, or parts.' }),
  name: z.string().nullish(),
}

/** The parameters of a chat completion, by their types. The provider judges all others. */
const parameters = {
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
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.int().nullish() }),
  temperature: z.number(),
  top_p: z.number(),
  tools: z.array(z.looseObject({ type: z.string(), function: functionShape.nullish() })),
  tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]),
  parallel_tool_calls: z.boolean(),
  user: z.string(),
  function_call: z.union([z.string(), z.record(z.string(), z.unknown())]),
  functions: z.array(functionShape),
} as const satisfies Record<string, z.ZodType>

/** Each of them may be left out, or null. */
export const optionalParameters: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(parameters).map(([field, schema]) => [field, schema.nullable().optional()]),
)

/** Parameters for which null is a value; null takes all others out. */
export const nullableParameters: ReadonlySet<string> = new Set(['logit_bias', 'stream_options'])
