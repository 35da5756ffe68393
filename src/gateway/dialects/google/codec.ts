import type { Codec } from '../codec.ts'
import { encodeAnswer } from './answer-encode.ts'
import { decodeError, encodeError } from './error-codec.ts'
import { errorFields, names } from './names.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'
import { streamEncoder } from './stream-encode.ts'

/** Google's content, at AI Studio and on Vertex. */
export const googleCodec: Codec = {
  id: 'google',
  framing: 'sse',
  names,
  request: { decode: decodeRequest, encode: encodeRequest },
  answer: { decode: decodeAnswer, encode: encodeAnswer },
  stream: { decoder: streamDecoder, encoder: streamEncoder },
  error: { decode: decodeError, encode: encodeError, fields: errorFields },
}
