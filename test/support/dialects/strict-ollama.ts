import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const fields = z.record(text, z.unknown())
const call = z.strictObject({ function: z.strictObject({ name: text, arguments: fields }) })
const image = text.regex(/^[A-Za-z0-9+/]+=*$/, 'illegal base64 data')
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text }),
  z.strictObject({ role: z.literal('user'), content: text, images: z.array(image).min(1).optional() }),
  z.strictObject({ role: z.literal('assistant'), content: text, thinking: text.optional(), tool_calls: z.array(call).min(1).optional() }),
  z.strictObject({ role: z.literal('tool'), content: text, tool_name: text, images: z.array(image).min(1).optional() }),
])
const options = z.strictObject({
  num_ctx: z.number().int().optional(),
  num_predict: z.number().int().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.number().int().optional(),
  min_p: z.number().optional(),
  seed: z.number().int().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  stop: z.array(text).min(1).optional(),
})
const request = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  // Without it Ollama streams unasked.
  stream: z.boolean(),
  format: z.union([z.literal('json'), fields]).optional(),
  keep_alive: z.union([text, z.number()]).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: text, description: text.optional(), parameters: fields }),
      }),
    )
    .optional(),
  think: z.union([z.boolean(), z.enum(['low', 'medium', 'high'])]).optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.number().int().min(0).max(20).optional(),
  options: options.optional(),
})

/** Results have no ids: as many of each tool follow its calls, in their order. */
function faultOfTurns({ messages, think, model }: z.infer<typeof request>): string | null {
  let open: string[] = []
  for (const said of messages) {
    if (said.role === 'tool') {
      if (open.shift() !== said.tool_name) return `tool result of ${said.tool_name} answers no call`
      continue
    }
    if (open.length > 0) return `calls without results: ${open.join(', ')}`
    if (said.role === 'assistant') open = (said.tool_calls ?? []).map((one) => one.function.name)
  }
  if (typeof think === 'string' && !model.includes('gpt-oss')) return `think value "${think}" is not supported for this model`
  return null
}

/** Why Ollama refuses a request for a chat; null: it takes it. It does not report unknown fields: they would be lost there. */
export function refusalOfOllama({ url, json: body }: Received): string | null {
  if (!url.endsWith('/api/chat') || url.endsWith('/v1/api/chat')) return `no ${url}`
  const read = request.safeParse(body)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
