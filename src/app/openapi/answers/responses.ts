import { z } from 'zod'
import { count, maybe, metadata, open, text } from './parts.ts'

const tool = open({
  type: text.meta({ description: 'Such as `file_search`, `function`, `computer_use_preview` or `web_search`.' }),
  vector_store_ids: maybe(z.array(text)),
  max_num_results: maybe(count),
  filters: maybe(open({ type: maybe(text), key: maybe(text), value: z.unknown().optional() })),
  ranking_options: maybe(open({ ranker: maybe(text), score_threshold: maybe(z.number()) })),
  name: maybe(text),
  parameters: maybe(z.record(z.string(), z.unknown())),
})

const annotation = open({ type: text, index: maybe(count), file_id: maybe(text) })

const outputItem = open({
  id: maybe(text),
  type: text.meta({
    description: 'Such as `message`, `file_search_call`, `function_call`, `web_search_call`, `computer_call` or `reasoning`.',
  }),
  role: maybe(text),
  status: maybe(text),
  content: maybe(z.array(open({ type: text, text: maybe(text), annotations: maybe(z.array(annotation)) }))),
})

const known = ['o1-pro', 'o1-pro-2025-03-19', 'computer-use-preview', 'computer-use-preview-2025-03-11'] as const

/** A response of the Responses API. */
export const modelResponse = open({
  id: text,
  object: z.literal('response'),
  created_at: z.number().meta({ description: 'Unix timestamp.' }),
  status: maybe(z.enum(['completed', 'failed', 'in_progress', 'incomplete', 'queued', 'cancelled'])),
  error: open({ code: text, message: text }).nullable(),
  incomplete_details: open({ reason: text }).nullable(),
  model: z.union([z.enum(known), text]).meta({ description: 'The four that are named here, and every other model of the provider.' }),
  instructions: z.union([text, z.array(z.unknown())]).nullable(),
  metadata: metadata.nullable(),
  temperature: maybe(z.number().min(0).max(2)).meta({ default: 1 }),
  top_p: maybe(z.number().min(0).max(1)).meta({ default: 1 }),
  tools: z.array(tool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), open({ type: text })]),
  output: z.array(outputItem),
  parallel_tool_calls: z.boolean().meta({ default: true }),
  user: maybe(text),
  previous_response_id: maybe(text),
  reasoning: maybe(open({ effort: maybe(text), summary: maybe(text), generate_summary: maybe(text) })),
  max_output_tokens: maybe(count),
  text: maybe(open({ format: maybe(open({ type: text })) })),
  truncation: maybe(z.enum(['auto', 'disabled'])).meta({ default: 'disabled' }),
  output_text: maybe(text).meta({ description: 'The clients of vendors fill it; no answer has it.' }),
  usage: maybe(
    open({
      input_tokens: count,
      input_tokens_details: maybe(open({ cached_tokens: maybe(count) })),
      output_tokens: count,
      output_tokens_details: maybe(open({ reasoning_tokens: maybe(count) })),
      total_tokens: count,
    }),
  ),
}).meta({ id: 'ModelResponse', description: 'A response of a model.' })
