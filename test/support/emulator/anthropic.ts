import type { Answer, Asked } from './answer.ts'
import { deltas, frame, jsonAnswer, sentence, streamAnswer } from './answer.ts'

const startUsage = { input_tokens: 11, cache_creation_input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 }
const modelOf = ({ json }: Asked): string => (typeof json['model'] === 'string' ? json['model'] : 'claude-emulated')

const message = (model: string, content: readonly object[], stop: string | null, usage: object) => ({
  id: 'msg_emulated',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage,
})

const event = (name: string, value: object): Buffer => frame({ type: name, ...value }, name)

function textStream(asked: Asked): Answer {
  return streamAnswer([
    event('message_start', { message: message(modelOf(asked), [], null, startUsage) }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('ping', {}),
    ...deltas(asked.frames).map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } }),
    event('message_stop', {}),
  ])
}

function toolStream(asked: Asked, name: string): Answer {
  const part = (json: string) => event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: json } })
  return streamAnswer([
    event('message_start', { message: message(modelOf(asked), [], null, startUsage) }),
    event('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'toolu_emulated', name, input: {} } }),
    event('ping', {}),
    part('{"city":'),
    part('"Paris"}'),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } }),
    event('message_stop', {}),
  ])
}

function toolName({ json }: Asked): string | null {
  if (!Array.isArray(json['tools']) || json['tools'].length === 0) return null
  const [first] = json['tools'] as { name?: string }[]
  return first?.name ?? 'tool'
}

/** POST /messages: JSON, or named events with a ping. */
export function messages(asked: Asked): Answer {
  const tool = toolName(asked)
  if (asked.json['stream'] === true) return tool === null ? textStream(asked) : toolStream(asked, tool)
  const usage = { ...startUsage, output_tokens: 7 }
  if (tool === null) return jsonAnswer(message(modelOf(asked), [{ type: 'text', text: sentence }], 'end_turn', usage))
  return jsonAnswer(
    message(modelOf(asked), [{ type: 'tool_use', id: 'toolu_emulated', name: tool, input: { city: 'Paris' } }], 'tool_use', usage),
  )
}

/** POST /messages/count_tokens. */
export const countTokens = (): Answer => jsonAnswer({ input_tokens: 11 })

/** POST /messages/batches. */
export const messageBatch = ({ json }: Asked): Answer =>
  jsonAnswer({
    id: 'msgbatch_emulated',
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: {
      processing: Array.isArray(json['requests']) ? json['requests'].length : 0,
      succeeded: 0,
      errored: 0,
      canceled: 0,
      expired: 0,
    },
    ended_at: null,
    created_at: '2025-10-09T08:53:20Z',
    expires_at: '2025-10-10T08:53:20Z',
    results_url: null,
  })
