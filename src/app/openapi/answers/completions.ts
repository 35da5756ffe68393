import { z } from 'zod'
import { count, maybe, moment, open, text } from './parts.ts'

const usage = open({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: maybe(open({ cached_tokens: maybe(count), audio_tokens: maybe(count) })),
  completion_tokens_details: maybe(open({ reasoning_tokens: maybe(count), audio_tokens: maybe(count) })),
})

const tokenLogprobs = open({
  text_offset: maybe(z.array(count)),
  token_logprobs: maybe(z.array(z.number().nullable())),
  tokens: maybe(z.array(text)),
  top_logprobs: maybe(z.array(z.record(z.string(), z.number()).nullable())),
})

/** A text completion; the chunks of a stream have the same shape. */
export const textCompletion = open({
  id: text,
  object: z.literal('text_completion'),
  created: moment,
  model: text,
  system_fingerprint: maybe(text),
  choices: z.array(open({ finish_reason: text.nullable(), index: count, text, logprobs: maybe(tokenLogprobs) })),
  usage: maybe(usage),
}).meta({ id: 'TextCompletion', description: 'A text completion; chunks of a stream have this shape too.' })

const toolCall = open({ id: text, type: text, function: maybe(open({ name: text, arguments: text })) })

const answerMessage = open({
  role: text,
  content: maybe(text),
  refusal: maybe(text),
  tool_calls: maybe(z.array(toolCall)),
})

/** A chat completion. Its stream has chunks with a `delta` in place of the message. */
export const chatCompletion = open({
  id: text,
  object: z.literal('chat.completion'),
  created: moment,
  model: text,
  choices: z.array(open({ index: count, message: answerMessage, finish_reason: text.nullable(), logprobs: maybe(open({})) })),
  usage: maybe(usage),
  system_fingerprint: maybe(text),
  service_tier: maybe(text),
}).meta({ id: 'ChatCompletion', description: 'A chat completion. A stream has chunks with a `delta` in place of the `message`.' })

export const embeddings = open({
  object: z.literal('list'),
  data: z.array(open({ object: text, index: count, embedding: z.union([z.array(z.number()), text]) })),
  model: text,
  usage: maybe(open({ prompt_tokens: count, total_tokens: count })),
}).meta({ id: 'Embeddings', description: 'One vector for each input.' })
