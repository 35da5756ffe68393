import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const fields = z.record(text, z.unknown())
const textPart = z.strictObject({ type: z.literal('text'), text })
const thinkingPart = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.array(textPart),
  signature: text.nullish(),
  closed: z.boolean().optional(),
})
const userPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('image_url'), image_url: z.union([text, z.strictObject({ url: text, detail: text.nullish() })]) }),
  z.strictObject({ type: z.literal('document_url'), document_url: text, document_name: text.nullish() }),
  z.strictObject({ type: z.literal('file'), file_id: text }),
  z.strictObject({ type: z.literal('input_audio'), input_audio: text }),
])
const id = text.regex(/^[A-Za-z0-9]{9}$/, 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.')
const call = z.strictObject({
  id,
  type: z.literal('function').optional(),
  index: z.number().optional(),
  function: z.strictObject({ name: text, arguments: z.union([text, fields]) }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.union([text, z.array(z.union([textPart, thinkingPart]))]) }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, z.array(userPart).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([text, z.array(z.union([textPart, thinkingPart]))]).nullish(),
    tool_calls: z.array(call).nullish(),
    prefix: z.boolean().optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: id,
    name: text.nullish(),
    content: z.union([text, z.array(textPart)]).nullable(),
  }),
])
const shared = {
  model: text,
  temperature: z.number().min(0).max(1.5).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.number().int().nullish(),
  stream: z.boolean().optional(),
  stop: z.union([text, z.array(text)]).nullish(),
  random_seed: z.number().int().nullish(),
  metadata: fields.nullish(),
  prompt_cache_key: text.nullish(),
}
const chat = z.strictObject({
  ...shared,
  messages: z.array(message).min(1),
  response_format: z
    .union([
      z.strictObject({ type: z.enum(['text', 'json_object']) }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({ name: text, description: text.nullish(), schema: fields, strict: z.boolean().optional() }),
      }),
    ])
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function').optional(),
        function: z.strictObject({ name: text, description: text.optional(), strict: z.boolean().optional(), parameters: fields }),
      }),
    )
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'any', 'required']),
      z.strictObject({ type: text.optional(), function: z.strictObject({ name: text }) }),
    ])
    .optional(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  n: z.number().int().nullish(),
  prediction: fields.optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  prompt_mode: z.literal('reasoning').nullish(),
  service_tier: text.nullish(),
  safe_prompt: z.boolean().optional(),
})
const fim = z.strictObject({ ...shared, prompt: text, suffix: text.nullish(), min_tokens: z.number().int().nullish() })

/** Each call has its result, and the model has something to answer. */
function faultOfTurns({ messages }: z.infer<typeof chat>): string | null {
  const made = new Set<string>()
  for (const said of messages) {
    if (said.role === 'assistant') for (const one of said.tool_calls ?? []) made.add(one.id)
    if (said.role === 'tool' && !made.delete(said.tool_call_id)) return 'Unexpected tool call id in tool results'
    if (said.role === 'assistant' && (said.content ?? '').length === 0 && (said.tool_calls ?? []).length === 0)
      return 'Assistant message must have either content or tool_calls, but not none.'
  }
  if (made.size > 0) return 'Not the same number of function calls and responses'
  const last = messages.at(-1)
  if (last?.role === 'user' || last?.role === 'tool' || (last?.role === 'assistant' && last.prefix === true)) return null
  return `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last?.role ?? 'none'}`
}

/** Why Mistral refuses a request for a chat, or for a text that is filled in, by the types of its own client; null: it takes it. */
export function refusalOfMistral({ url, json }: Received): string | null {
  if (url.endsWith('/v1/fim/completions')) {
    const read = fim.safeParse(json)
    return read.success ? null : firstFault(read.error)
  }
  if (!url.endsWith('/v1/chat/completions')) return `no ${url}`
  const read = chat.safeParse(json)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
