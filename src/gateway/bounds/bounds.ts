import { z } from 'zod'

const most = { pairs: 16, key: 64, value: 512 } as const

/** Metadata of batches and responses: specification section 8. */
const metadata = z
  .record(z.string(), z.unknown())
  .superRefine((pairs, context) => {
    const entries = Object.entries(pairs)
    const refuse = (path: readonly string[], message: string) => context.addIssue({ code: 'custom', path: [...path], message })
    if (entries.length > most.pairs) refuse([], `must have at most ${most.pairs} pairs, but has ${entries.length}`)
    for (const [key, value] of entries.slice(0, most.pairs)) {
      if (key.length > most.key)
        refuse(
          [],
          `must have keys of at most ${most.key} characters, but has one of ${key.length}: ${JSON.stringify(`${key.slice(0, 20)}…`)}`,
        )
      else if (typeof value === 'string' && value.length > most.value)
        refuse([key], `must have at most ${most.value} characters, but has ${value.length}`)
    }
  })
  .nullish()

/** The body of `POST /responses`, as far as the specification bounds it (2.7, 8); the rest is the provider's to judge. */
export const responseBody = z
  .looseObject({
    max_output_tokens: z.number().min(0).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    metadata,
    truncation: z.enum(['auto', 'disabled']).nullish(),
  })
  .meta({ description: "A model response to create. Other fields are the provider's own." })

/** Metadata of a chat, which is looked at only where there is some. */
export const chatMetadata = z.looseObject({ metadata })

/** The body of `POST /batches`, in the same way. */
export const batchBody = z.looseObject({ metadata }).meta({ description: "A batch to create. Other fields are the provider's own." })

/** The body of `POST /responses/input_tokens`: a value that is neither a text nor a list of items would count as zero. */
export const responseCountBody = z
  .looseObject({ input: z.union([z.string(), z.array(z.unknown())]).nullish() })
  .meta({ description: "A model response whose tokens are counted. Other fields are the provider's own." })
