import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const address = text.regex(/^(?:https?:\/\/|data:image\/)/)
const prediction = z.strictObject({
  input: z.strictObject({
    prompt: text,
    system_prompt: text.optional(),
    max_tokens: z.number().int().positive().optional(),
    image: address.optional(),
    temperature: z.number().min(0).max(5).optional(),
    top_p: z.number().min(0).max(1).optional(),
    top_k: z.number().int().optional(),
    seed: z.number().int().optional(),
    frequency_penalty: z.number().optional(),
    presence_penalty: z.number().optional(),
    stop_sequences: text.optional(),
    prompt_template: text.optional(),
  }),
  stream: z.boolean().optional(),
})

/** Why Replicate refuses to begin a prediction of a model that writes; null: it begins it. */
export function refusalOfReplicate({ url, json: body, headers }: Received): string | null {
  if (!/^\/v1\/models\/meta\/[\w.-]+\/predictions$/.test(url)) return `no ${url}`
  if (headers['authorization'] === undefined) return 'Unauthenticated'
  const read = prediction.safeParse(body)
  return read.success ? null : firstFault(read.error)
}
