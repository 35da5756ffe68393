import type { ClientCodec } from '../codec.ts'
import { writeError } from '../openai-chat/error-codec.ts'
import { encodeAnswer } from './answer-encode.ts'
import { names } from './names.ts'
import { decodeRequest } from './request-decode.ts'
import { streamEncoder } from './stream-encode.ts'

/** OpenAI's responses, as clients ask for them. */
export const responsesCodec: ClientCodec = {
  id: 'openai-responses',
  framing: 'sse',
  names,
  request: { decode: decodeRequest },
  answer: { encode: encodeAnswer },
  stream: { encoder: streamEncoder },
  error: { encode: writeError },
}
