import type { ClientCodec } from '../codec.ts'
import { tooLong, writeError } from '../openai-chat/error-codec.ts'
import { names } from '../openai-chat/names.ts'
import { encodeAnswer } from './answer-encode.ts'
import { decodeRequest } from './request-decode.ts'
import { streamEncoder } from './stream-encode.ts'

/** OpenAI's completions of texts: a conversation of one turn, for clients alone. */
export const completionsCodec: ClientCodec = {
  id: 'completions',
  framing: 'sse',
  names,
  request: { decode: decodeRequest },
  answer: { encode: encodeAnswer },
  stream: { encoder: streamEncoder },
  error: { encode: writeError, tooLong },
}
