import type { AnswerContext, EncodeContext, ProviderCodec } from '../codec.ts'
import { readError } from '../error-reading.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { chatLike } from '../openai-chat/like.ts'
import { cohereDecoder, decodeCohere } from './cohere-read.ts'
import { encodeSecondCohere } from './cohere-second-write.ts'
import { encodeCohere } from './cohere-write.ts'
import { read } from './generic-read.ts'
import { write } from './generic-write.ts'

const error = { decode: readError }

/** The format of all models but Cohere's. */
const generic: ProviderCodec = chatLike({ id: 'oracle', write, read: (json) => read(json), error })

/** That of models of Cohere's, in its first version. */
const first: Pick<ProviderCodec, 'request' | 'answer' | 'stream'> = {
  request: { encode: encodeCohere },
  answer: { decode: decodeCohere },
  stream: { decoder: cohereDecoder },
}

/** That of models of Cohere's that see or think. */
const second: typeof first = { ...first, request: { encode: encodeSecondCohere } }

const seesOrThinks = /vision|reasoning|translate/

/** Returns the format that a model takes. */
function formatOf(model: string): typeof first {
  if (!model.startsWith('cohere.')) return generic
  return seesOrThinks.test(model) ? second : first
}

const ofAnswer = ({ model }: AnswerContext): typeof first => formatOf(model)

/** Oracle's Generative AI: docs.oracle.com/iaas/api/#/en/generative-ai-inference. */
export const oracleCodec: ProviderCodec = {
  id: 'oracle',
  framing: 'sse',
  request: { encode: (request: NeutralRequest, context: EncodeContext) => formatOf(context.model).request.encode(request, context) },
  answer: { decode: (json, context) => ofAnswer(context).answer.decode(json, context) },
  stream: { decoder: (context) => ofAnswer(context).stream.decoder(context) },
  error,
}
