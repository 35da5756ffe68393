import type { Answer, Asked } from './answer.ts'
import { deltas, frame, jsonAnswer, newId, openaiError, sentence, streamAnswer } from './answer.ts'
import type { Store } from './resources.ts'

const usage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
}

const response = (id: string, model: unknown, status: 'in_progress' | 'completed') => ({
  id,
  object: 'response',
  created_at: 1_760_000_000,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: model ?? 'emulated-model',
  output: status === 'completed' ? [outputItem('completed')] : [],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: status === 'completed' ? usage : null,
  metadata: {},
})

const outputItem = (status: string) => ({
  id: 'msg_emulated',
  type: 'message',
  role: 'assistant',
  status,
  content: status === 'completed' ? [{ type: 'output_text', text: sentence, annotations: [] }] : [],
})

function stream(id: string, asked: Asked): Answer {
  let sequence = 0
  const event = (type: string, value: object) => frame({ type, sequence_number: sequence++, ...value }, type)
  const at = { item_id: 'msg_emulated', output_index: 0, content_index: 0 }
  return streamAnswer([
    event('response.created', { response: response(id, asked.json['model'], 'in_progress') }),
    event('response.in_progress', { response: response(id, asked.json['model'], 'in_progress') }),
    event('response.output_item.added', { output_index: 0, item: outputItem('in_progress') }),
    event('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } }),
    ...deltas(asked.frames).map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
    event('response.output_text.done', { ...at, text: sentence, logprobs: [] }),
    event('response.content_part.done', { ...at, part: { type: 'output_text', text: sentence, annotations: [] } }),
    event('response.output_item.done', { output_index: 0, item: outputItem('completed') }),
    event('response.completed', { response: response(id, asked.json['model'], 'completed') }),
  ])
}

/** POST /responses: JSON, or events up to `response.completed`; kept for a later GET. */
export function createResponse(asked: Asked, store: Store): Answer {
  const id = newId('resp_')
  const value = response(id, asked.json['model'], 'completed')
  store.put('responses', id, value)
  return asked.json['stream'] === true ? stream(id, asked) : jsonAnswer(value)
}

/** GET /responses/{id}; `resp_emulated` is always there. */
export function getResponse(asked: Asked, store: Store): Answer {
  const [id = ''] = asked.match
  const found = id === 'resp_emulated' ? response(id, undefined, 'completed') : store.get('responses', id)
  if (found === undefined) return openaiError(404, `Response with id '${id}' not found.`)
  return asked.query.get('stream') === 'true' ? stream(id, asked) : jsonAnswer(found)
}

/** DELETE /responses/{id}. */
export function deleteResponse(asked: Asked, store: Store): Answer {
  const [id = ''] = asked.match
  return store.drop('responses', id)
    ? jsonAnswer({ id, object: 'response', deleted: true })
    : openaiError(404, `Response with id '${id}' not found.`)
}

/** POST /responses/{id}/cancel: `resp_emulated` runs in the background, all others have ended. */
export function cancelResponse(asked: Asked, store: Store): Answer {
  const [id = ''] = asked.match
  if (id === 'resp_emulated')
    return jsonAnswer({ ...response(id, undefined, 'completed'), background: true, status: 'cancelled', output: [] })
  return store.get('responses', id) === undefined
    ? openaiError(404, `Response with id '${id}' not found.`)
    : openaiError(400, 'Cannot cancel a synchronous response.')
}

/** POST /responses/input_tokens. */
export const countResponse = (): Answer => jsonAnswer({ object: 'response.input_tokens', input_tokens: usage.input_tokens })

/** POST /responses/compact: the caller's messages stay, and all else is one sealed item. */
export const compactResponse = (asked: Asked): Answer =>
  jsonAnswer({
    id: 'resp_compacted',
    object: 'response.compaction',
    created_at: 1_760_000_000,
    output: [
      {
        id: 'msg_input',
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: String(asked.json['input']) }],
      },
      { id: 'cmp_emulated', type: 'compaction', encrypted_content: 'c2VhbGVk' },
    ],
    usage,
  })

/** GET /responses/{id}/input_items. */
export const inputItems = (): Answer => {
  const item = { id: 'msg_input', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }
  return jsonAnswer({ object: 'list', data: [item], first_id: item.id, last_id: item.id, has_more: false })
}
