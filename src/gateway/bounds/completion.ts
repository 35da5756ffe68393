import { z } from 'zod'

const nullable = <T extends z.ZodType>(schema: T) => schema.nullish()
const probability = z.number().min(0).max(1)
const penalty = z.number().min(-2).max(2)
const tokens = z.array(z.int()).min(1, { abort: true })
const seedBound = 9_223_372_036_854_776_000

/** The body of `POST /completions`: specification 4.6. Unknown parameters pass: they are the provider's to judge. */
export const completionBody = z
  .looseObject({
    model: z.string().min(1),
    prompt: z.union([z.string(), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)]),
    best_of: nullable(z.int().min(0).max(20)),
    echo: nullable(z.boolean()),
    frequency_penalty: nullable(penalty),
    logit_bias: nullable(z.record(z.string(), z.number().min(-100).max(100))),
    logprobs: nullable(z.int().min(0).max(5)),
    max_tokens: nullable(z.int().min(0)),
    n: nullable(z.int().min(1).max(128)),
    presence_penalty: nullable(penalty),
    seed: nullable(z.number().min(-seedBound).max(seedBound).refine(Number.isInteger, 'must be a whole number')),
    stop: nullable(z.union([z.string(), z.array(z.string()).min(1).max(4)])),
    stream: nullable(z.boolean()),
    stream_options: nullable(z.looseObject({ include_usage: z.boolean().optional() })),
    suffix: nullable(z.string()),
    temperature: nullable(z.number().min(0).max(2)),
    top_p: nullable(probability),
    user: nullable(z.string()),
  })
  .superRefine((body, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const bestOf = body.best_of ?? null
    if (bestOf !== null && typeof body.n === 'number' && bestOf <= body.n)
      refuse('best_of', `must be greater than n (${body.n}), but is ${bestOf}`)
    else if (bestOf !== null && bestOf > 1 && body.stream === true)
      refuse('best_of', 'cannot be used with stream: results with best_of are not streamed')
    if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true)
      refuse('stream_options', 'is only allowed when stream is true')
  })
  .meta({ description: 'A text completion to create.' })
