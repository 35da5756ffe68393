import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const texts = z.union([text, z.array(text).min(1)])

/** The fields of the official client's type, `CompletionCreateParams`. */
const request = z.strictObject({
  model: text,
  prompt: texts,
  max_tokens: z.number().int().optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  n: z.number().int().optional(),
  best_of: z.number().int().optional(),
  echo: z.boolean().optional(),
  suffix: text.optional(),
  stop: texts.optional(),
  seed: z.number().int().optional(),
  logprobs: z.number().int().max(5).optional(),
  logit_bias: z.record(text, z.number()).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  user: text.optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() }).optional(),
})

/** Why OpenAI refuses a request for completions of texts; null: it takes it. */
export function refusalOfCompletions({ url, json }: Received): string | null {
  if (!/\/completions(?:\?|$)/.test(url) || url.includes('/chat/')) return `no ${url}`
  const read = request.safeParse(json)
  return read.success ? null : firstFault(read.error)
}
