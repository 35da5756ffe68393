import type { Fields } from '../../lib/json/fields.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { responseId } from '../dialects/openai-responses/response-id.ts'

const nothingUsed = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

/** Returns the response to a request without a generation (`generate: false`): clients warm a connection up with it, and continue it. */
export const warmedUp = ({ model, instructions, metadata, tools, tool_choice: toolChoice }: Fields): Fields & { readonly id: string } => ({
  id: responseId(uuidv7()),
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: instructions ?? null,
  metadata: metadata ?? {},
  model: model ?? null,
  output: [],
  parallel_tool_calls: true,
  store: false,
  tool_choice: toolChoice ?? 'auto',
  tools: tools ?? [],
  usage: nothingUsed,
})
