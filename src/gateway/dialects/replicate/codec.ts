import type { ProviderCodec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { decodeAnswer, streamDecoder } from './answer-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { asStream, untilEnded } from './steps.ts'

/** Predictions of models that write. */
export const replicateCodec: ProviderCodec = {
  id: 'replicate',
  framing: 'sse',
  request: { encode: encodeRequest },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: readError },
  steps: (request) => (request.stream ? asStream : untilEnded),
}
