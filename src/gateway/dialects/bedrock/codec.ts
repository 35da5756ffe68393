import type { ProviderCodec } from '../codec.ts'
import { decodeError, errorFields } from './error-codec.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'

/** Converse and ConverseStream of Bedrock. */
export const converseCodec: ProviderCodec = {
  id: 'bedrock',
  framing: 'event-stream',
  request: { encode: encodeRequest },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: decodeError, fields: errorFields },
}
