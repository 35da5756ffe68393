import type { ProviderCodec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { encodeRequest } from './request-encode.ts'
import { decodeAnswer, streamDecoder } from './stream-decode.ts'

/** Ollama's own chat. */
export const ollamaCodec: ProviderCodec = {
  id: 'ollama',
  framing: 'ndjson',
  request: { encode: encodeRequest },
  answer: { decode: decodeAnswer },
  stream: { decoder: streamDecoder },
  error: { decode: readError },
}
