import type { Codec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { encodeAnswer } from './answer-encode.ts'
import { tooLong, writeError } from './error-codec.ts'
import { errorFields, names } from './names.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'
import { streamEncoder } from './stream-encode.ts'

/** OpenAI's chat completions, and those of all compatible providers. */
export const chatCodec: Codec = {
  id: 'openai-chat',
  framing: 'sse',
  names,
  request: { decode: decodeRequest, encode: encodeRequest },
  answer: { decode: decodeAnswer, encode: encodeAnswer },
  stream: { decoder: streamDecoder, encoder: streamEncoder },
  error: { decode: readError, encode: writeError, fields: errorFields, tooLong },
}
