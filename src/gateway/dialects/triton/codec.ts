import type { ProviderCodec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { decodeAnswer, streamDecoder } from './answer-decode.ts'
import { encodeRequest } from './request-encode.ts'

/** Triton's own way to complete a text. */
export const tritonCodec: ProviderCodec = {
  id: 'triton',
  framing: 'sse',
  request: { encode: encodeRequest },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: readError },
}
