import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const fields = z.record(text, z.unknown())
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: text.startsWith('data:'), detail: text.optional() }) }),
])
const call = z.strictObject({ id: text, type: z.literal('function'), function: z.strictObject({ name: text, arguments: text }) })
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, z.array(part).min(1)]) }),
  z.strictObject({ role: z.literal('assistant'), content: z.union([text, z.null()]), tool_calls: z.array(call).min(1).optional() }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content: text }),
])
const request = z.strictObject({
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  raw: z.boolean().optional(),
  max_tokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(5).optional(),
  top_p: z.number().min(0).max(2).optional(),
  top_k: z.number().int().min(1).max(50).optional(),
  seed: z.number().int().optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({ type: z.literal('json_schema'), json_schema: fields }),
    ])
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: text, description: text.optional(), parameters: fields }),
      }),
    )
    .min(1)
    .optional(),
})

/** Results answer calls that were made. */
function faultOfTurns({ messages }: z.infer<typeof request>): string | null {
  const open = new Set<string>()
  for (const said of messages) {
    if (said.role === 'assistant') for (const { id } of said.tool_calls ?? []) open.add(id)
    if (said.role === 'tool' && !open.delete(said.tool_call_id)) return `AiError: ${said.tool_call_id} answers no call`
  }
  return null
}

/** Why Workers AI refuses to run a model that writes; null: it runs it. */
export function refusalOfWorkers({ url, json: body }: Received): string | null {
  if (!/^\/client\/v4\/accounts\/account\/ai\/run\/(?:@|%40)cf\/meta\/[^/]+$/.test(url)) return `no ${url}`
  const read = request.safeParse(body)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
