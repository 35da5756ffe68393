import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const fields = z.record(text, z.unknown())
const textPart = z.strictObject({ type: z.literal('text'), text })
const thinkingPart = z.strictObject({ type: z.literal('thinking'), thinking: text })
const imagePart = z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: text, detail: text.optional() }) })
const documentPart = z.strictObject({ type: z.literal('document'), document: z.strictObject({ data: fields, id: text.optional() }) })
const call = z.strictObject({ id: text, type: z.literal('function'), function: z.strictObject({ name: text, arguments: text }) })
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.union([text, z.array(textPart)]) }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, z.array(z.union([textPart, imagePart])).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([text, z.array(z.union([textPart, thinkingPart]))]).optional(),
    tool_calls: z.array(call).optional(),
    tool_plan: text.optional(),
    citations: z.array(fields).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content: z.union([text, z.array(z.union([textPart, documentPart]))]) }),
])
const request = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: text, description: text.optional(), parameters: fields }),
      }),
    )
    .optional(),
  strict_tools: z.boolean().optional(),
  documents: z.array(z.union([text, z.strictObject({ id: text.optional(), data: fields })])).optional(),
  citation_options: fields.optional(),
  response_format: z
    .union([
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object'), json_schema: fields.optional() }),
    ])
    .optional(),
  safety_mode: z.enum(['CONTEXTUAL', 'STRICT', 'OFF', 'NONE']).optional(),
  max_tokens: z.number().int().positive().optional(),
  stop_sequences: z.array(text).max(5).optional(),
  temperature: z.number().max(1).optional(),
  seed: z.number().optional(),
  frequency_penalty: z.number().min(0).max(1).optional(),
  presence_penalty: z.number().min(0).max(1).optional(),
  k: z.number().optional(),
  p: z.number().optional(),
  logprobs: z.boolean().optional(),
  tool_choice: z.enum(['REQUIRED', 'NONE']).optional(),
  thinking: z.strictObject({ type: z.enum(['enabled', 'disabled']), token_budget: z.number().int().positive().optional() }).optional(),
  priority: z.number().optional(),
})

/** Each result answers a call that was made before it. */
function faultOfTurns({ messages, response_format: format, tools, documents }: z.infer<typeof request>): string | null {
  const made = new Set<string>()
  for (const said of messages) {
    if (said.role === 'assistant') for (const { id } of said.tool_calls ?? []) made.add(id)
    if (said.role === 'tool' && !made.delete(said.tool_call_id))
      return `invalid request: tool call id ${said.tool_call_id} not found in previous tool calls`
  }
  if (made.size > 0 && messages.at(-1)?.role !== 'assistant') return 'invalid request: tool calls without results'
  if (format?.type === 'json_object' && (tools !== undefined || documents !== undefined))
    return 'invalid request: response_format is not supported with tools or documents'
  return null
}

/** Why Cohere refuses a request for a chat, in its own words; null: it takes it. */
export function refusalOfCohere({ url, json: body }: Received): string | null {
  if (!url.endsWith('/v2/chat')) return `no ${url}`
  const read = request.safeParse(body)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
