import type { Codec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { tooLong, writeError } from '../openai-chat/error-codec.ts'
import { encodeAnswer } from './answer-encode.ts'
import { errorFields, names } from './names.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'
import { streamEncoder } from './stream-encode.ts'

/** OpenAI's responses. */
export const responsesCodec: Codec = {
  id: 'openai-responses',
  framing: 'sse',
  names,
  request: { decode: decodeRequest, encode: encodeRequest },
  answer: { decode: decodeAnswer, encode: encodeAnswer },
  stream: { decoder: streamDecoder, encoder: streamEncoder },
  error: { decode: readError, encode: writeError, fields: errorFields, tooLong },
}
