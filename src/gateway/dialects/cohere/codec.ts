import type { ProviderCodec } from '../codec.ts'
import { decodeError } from './error-codec.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'

/** Cohere's chat, in its second version. */
export const cohereCodec: ProviderCodec = {
  id: 'cohere',
  framing: 'sse',
  request: { encode: encodeRequest },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: decodeError },
}
