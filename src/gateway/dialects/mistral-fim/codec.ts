import type { Fields } from '../../../lib/json/fields.ts'
import { type EncodeContext, noMemory, type ProviderCodec } from '../codec.ts'
import { compact } from '../compact.ts'
import { readError } from '../error-reading.ts'
import { spendBag } from '../leftovers.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { errorFields } from '../openai-chat/names.ts'
import { encodeRequest } from '../openai-chat/request-encode.ts'
import { decodeAnswer, streamDecoder } from '../openai-chat/stream-decode.ts'

/** The fields that it has under the names of a chat's. */
const kept = ['model', 'max_tokens', 'temperature', 'top_p', 'stop', 'stream'] as const
/** Fields with other names there, or without effect. */
const others: ReadonlySet<string> = new Set([...kept, 'messages', 'seed', 'n', 'logprobs', 'stream_options'])

/** Writes a request for the text between the prompt and the suffix of a completion: docs.mistral.ai/api, fim. */
function write(request: NeutralRequest, context: EncodeContext): Fields {
  const { loss } = context
  const { suffix = null, ...rest } = request.bag.completions ?? {}
  const own = spendBag({ ...request, bag: { ...request.bag, completions: rest } }, 'mistral-fim', loss)
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.topK !== null) loss.drop('topK')
  const { body } = encodeRequest({ ...request, topK: null, bag: {}, unplaced: [] }, context)
  for (const name of Object.keys(body)) if (!others.has(name)) loss.dropAt(name)
  const prompt = request.turns.flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : ''))).join('')
  return compact({ ...Object.fromEntries(kept.map((name) => [name, body[name]])), prompt, suffix, random_seed: request.seed, ...own })
}

/** Mistral's completions, whose answers are those of chats. */
export const fimCodec: ProviderCodec = {
  id: 'mistral-fim',
  framing: 'sse',
  request: {
    encode: (request, context) => ({ body: write(request, context), headers: [], memory: noMemory }),
  },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: readError, fields: errorFields },
}
