import type { Answer, Asked } from './answer.ts'
import { bytesAnswer, deltas, frame, jsonAnswer, remembered, sentence, streamAnswer } from './answer.ts'
import { wordVector } from './word-vector.ts'

const created = 1_760_000_000
const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
}
const modelOf = (asked: Asked): string => (typeof asked.json['model'] === 'string' ? asked.json['model'] : 'emulated-model')
const toolArguments = '{"city":"Paris"}'

const wantsTool = ({ json }: Asked): boolean => Array.isArray(json['tools']) && json['tools'].length > 0 && json['tool_choice'] !== 'none'

function toolName({ json }: Asked): string {
  const [first] = json['tools'] as { function?: { name?: string } }[]
  return first?.function?.name ?? 'tool'
}

const completion = (model: string, message: object, finish: string) => ({
  id: 'chatcmpl-emulated',
  object: 'chat.completion',
  created,
  model,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: finish }],
  usage,
  service_tier: 'default',
  system_fingerprint: 'fp_emulated',
})

const plain = remembered((model) =>
  bytesAnswer(Buffer.from(JSON.stringify(completion(model, { content: sentence, refusal: null }, 'stop'))), 'application/json'),
)

const chunk = (model: string, delta: object, finish: string | null) => ({
  id: 'chatcmpl-emulated',
  object: 'chat.completion.chunk',
  created,
  model,
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const usageFrame = (model: string): Buffer =>
  frame({ id: 'chatcmpl-emulated', object: 'chat.completion.chunk', created, model, choices: [], usage })
const done = frame('[DONE]')

const plainStream = remembered((key) => {
  const [model = '', frames, withUsage] = key.split('\n')
  return streamAnswer([
    frame(chunk(model, { role: 'assistant', content: '' }, null)),
    ...deltas(Number(frames)).map((content) => frame(chunk(model, { content }, null))),
    frame(chunk(model, {}, 'stop')),
    ...(withUsage === 'true' ? [usageFrame(model)] : []),
    done,
  ])
})

function toolStream(model: string, name: string, withUsage: boolean): Answer {
  const call = { index: 0, id: 'call_emulated', type: 'function', function: { name, arguments: '' } }
  const part = (text: string) => frame(chunk(model, { tool_calls: [{ index: 0, function: { arguments: text } }] }, null))
  return streamAnswer([
    frame(chunk(model, { role: 'assistant', content: null, tool_calls: [call] }, null)),
    part(toolArguments.slice(0, 8)),
    part(toolArguments.slice(8)),
    frame(chunk(model, {}, 'tool_calls')),
    ...(withUsage ? [usageFrame(model)] : []),
    done,
  ])
}

const includesUsage = ({ json }: Asked): boolean => {
  const options = json['stream_options']
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true
}

/** POST /chat/completions: JSON or a stream, a tool call when tools are given. */
export function chatCompletions(asked: Asked): Answer {
  const model = modelOf(asked)
  if (asked.json['stream'] === true) {
    if (wantsTool(asked)) return toolStream(model, toolName(asked), includesUsage(asked))
    return plainStream(`${model}\n${asked.frames}\n${includesUsage(asked)}`)
  }
  if (!wantsTool(asked)) return plain(model)
  const call = { id: 'call_emulated', type: 'function', function: { name: toolName(asked), arguments: toolArguments } }
  return jsonAnswer(completion(model, { content: null, tool_calls: [call] }, 'tool_calls'))
}

/** POST /completions. */
export function completions(asked: Asked): Answer {
  const model = modelOf(asked)
  const choice = (text: string, finish: string | null) => ({
    id: 'cmpl-emulated',
    object: 'text_completion',
    created,
    model,
    choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
  })
  if (asked.json['stream'] !== true) return jsonAnswer({ ...choice(sentence, 'stop'), usage })
  return streamAnswer([
    ...deltas(asked.frames).map((text) => frame(choice(text, null))),
    frame(choice('', 'stop')),
    ...(includesUsage(asked) ? [frame({ ...choice('', null), choices: [], usage })] : []),
    done,
  ])
}

const encoded = (asked: Asked, vector: readonly number[]) =>
  asked.json['encoding_format'] === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector

/** POST /embeddings: as many vectors as inputs; base64 when the SDK asks for it. */
export function embeddings(asked: Asked): Answer {
  const input = asked.json['input']
  const inputs: readonly unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  const count = inputs.length
  const data = inputs.map((text, index) => ({ object: 'embedding', index, embedding: encoded(asked, wordVector(String(text))) }))
  return jsonAnswer({ object: 'list', data, model: modelOf(asked), usage: { prompt_tokens: 5 * count, total_tokens: 5 * count } })
}
