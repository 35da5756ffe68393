import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, EncodeContext, Frame, ProviderCodec, StreamDecoder } from '../codec.ts'
import type { DialectId } from '../dialect.ts'
import { spendBag } from '../leftovers.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { doneMark } from './marks.ts'
import { encodeRequest } from './request-encode.ts'
import { streamDecoder } from './stream-decode.ts'

/** The number of calls that an answer has sent so far, for formats that give them no ids. */
export interface SeenCalls {
  count: number
}

/** A format that is a variant of chat completions. */
export interface ChatLike {
  readonly id: DialectId
  /** Returns the body for the content of a chat completion; `top_k`, which it does not have, is in the request. */
  readonly write: (body: Fields, request: NeutralRequest, context: EncodeContext) => Fields
  /** Returns a whole answer, or an event of a stream, as a chunk of a chat completion; null: it has no content. */
  readonly read: (json: Fields, context: AnswerContext, seen: SeenCalls) => Fields | null
  readonly error: ProviderCodec['error']
}

const none: readonly NeutralEvent[] = []
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]

/** Returns the codec of such a format. Fields that only OpenAI has are dropped, or refused where they change the meaning. */
export function chatLike({ id, write, read, error }: ChatLike): ProviderCodec {
  const decoder = (context: AnswerContext): StreamDecoder & { take(json: Fields): readonly NeutralEvent[] } => {
    const inner = streamDecoder(context)
    const seen: SeenCalls = { count: 0 }
    const take = (json: Fields): readonly NeutralEvent[] => {
      const chunk = read(json, context, seen)
      return chunk === null ? none : inner.chunk(chunk)
    }
    let isOver = false
    return {
      take,
      frame(frame: Frame) {
        if (isOver) return none
        if (frame.data === null) return ping
        if (frame.data === doneMark) return inner.frame(frame)
        const json = exactOrUndefined(frame.data)
        const events = isFields(json) ? take(json) : none
        isOver = events.at(-1)?.type === 'error'
        return events
      },
      end: () => (isOver ? none : inner.end()),
    }
  }
  return {
    id,
    takesContentOf: 'openai-chat',
    framing: 'sse',
    request: {
      encode(request, context) {
        const own = spendBag(request, id, context.loss)
        const encoded = encodeRequest({ ...request, topK: null, bag: {}, unplaced: [] }, context)
        return { ...encoded, body: { ...write(encoded.body, request, context), ...own } }
      },
    },
    answer: {
      decode(json, context) {
        if (!isFields(json)) return none
        const whole = decoder(context)
        const events = whole.take(json)
        return [...events, ...whole.end()]
      },
    },
    stream: { decoder },
    error,
  }
}
