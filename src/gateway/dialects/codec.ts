import type { Fields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import type { NeutralAnswer } from './neutral/answer.ts'
import type { NeutralError } from './neutral/error.ts'
import type { NeutralEvent } from './neutral/events.ts'
import type { NamedFields } from './neutral/field-names.ts'
import type { Loss } from './neutral/loss.ts'
import type { FieldNames, NeutralRequest } from './neutral/request.ts'
import type { Steps } from './steps.ts'
import type { Traits } from './traits.ts'

/** How the events of a stream are written: server-sent events, one JSON to a line, AWS's binary frames, or one JSON array. */
export type StreamFraming = 'sse' | 'ndjson' | 'event-stream' | 'json-array'

/** One event of a stream as it is written. */
export interface Frame {
  /** The name of the event: `event:` of server-sent events, `:event-type` of AWS; null: it has none. */
  readonly name: string | null
  /** JSON, or another mark such as `[DONE]`. Null: a sign of life without content. */
  readonly data: string | null
}

/** The context in which a request is written. */
export interface EncodeContext {
  /** The provider's name of the model. */
  readonly model: string
  readonly traits: Traits
  readonly loss: Loss
}

/** A request in the words of one provider. */
export interface EncodedRequest {
  readonly body: Fields
  /** More headers for the provider, flat. */
  readonly headers: readonly string[]
  readonly memory: Memory
}

/** Facts of a request that are needed again when its answer comes. */
export interface Memory {
  /** The tool by which structured output is asked for where there is no other way: its arguments are the answer's text. `wrapped`: below `value`. */
  readonly schemaTool: { readonly name: string; readonly wrapped: boolean } | null
  /** Names of tools that had to be changed: the provider's -> the caller's. */
  readonly toolNames: ReadonlyMap<string, string> | null
  /** The caller's names of tools that take a plain text, which for the provider are functions with one parameter `input`. */
  readonly customTools: ReadonlySet<string> | null
  /** True if the caller asked for JSON without a schema where the provider has no such mode: fences around it are taken off. */
  readonly unwrapsJson: boolean
  /** True if the answer stands below `value`, since the provider takes objects alone. */
  readonly wrapsAnswer: boolean
}

export const noMemory: Memory = { schemaTool: null, toolNames: null, customTools: null, unwrapsJson: false, wrapsAnswer: false }

/** The context in which an answer is read and written. */
export interface AnswerContext {
  /** The request that is answered. */
  readonly request: NeutralRequest
  readonly memory: Memory
  /** Ids that the provider did not give are made of it. */
  readonly requestId: string
  /** Unix seconds, for answers whose provider states no time. */
  readonly now: number
  /** The model as the caller named it, for answers whose provider names none. */
  readonly model: string
  readonly traits: Traits
}

/** Reads the frames of one stream. Takes every JSON: an unknown value is no event. */
export interface StreamDecoder {
  frame(frame: Frame): readonly NeutralEvent[]
  /** The bytes have ended. Returns `end` when the stream was whole; no event when it was cut. */
  end(): readonly NeutralEvent[]
}

/** Writes one stream. */
export interface StreamEncoder {
  event(event: NeutralEvent): readonly Frame[]
}

/** Reads the requests of clients of one wire format, and writes their answers. All pure: no clock, no chance, no I/O; inputs are never changed. */
export interface ClientCodec {
  readonly id: DialectId
  readonly framing: StreamFraming
  readonly names: FieldNames
  readonly request: {
    /** Throws `invalid_request` that names a field which cannot be read. */
    decode(body: Fields): NeutralRequest
  }
  readonly answer: {
    encode(answer: NeutralAnswer, context: AnswerContext): object
  }
  readonly stream: {
    encoder(context: AnswerContext): StreamEncoder
  }
  readonly error: {
    encode(error: NeutralError, requestId: string): object
    /** The code of a request that is too long for its model; absent: there is none. */
    readonly tooLong?: string
  }
}

/** Writes requests for providers of one wire format, and reads their answers. Just as pure. */
export interface ProviderCodec {
  readonly id: DialectId
  /** The other dialect of its family, whose content goes on as it is although no decoder supports it; absent: none. */
  readonly takesContentOf?: DialectId
  readonly framing: StreamFraming
  readonly request: {
    /** Throws `invalid_request`, by the loss, for content that it cannot express. */
    encode(request: NeutralRequest, context: EncodeContext): EncodedRequest
  }
  readonly answer: {
    /** Returns the events of a whole answer, `end` as the last one; without it the JSON is no answer. */
    decode(json: unknown, context: AnswerContext): readonly NeutralEvent[]
  }
  readonly stream: {
    decoder(context: AnswerContext): StreamDecoder
  }
  /** How the answer to a request is reached where it takes several steps; absent: it is the answer to the one call. */
  steps?(request: NeutralRequest): Steps
  readonly error: {
    /** `body`: the JSON of an error, or its text when it is none. */
    decode(status: number, body: unknown): NeutralError
    /** The fields that its errors name; absent: they name none. */
    readonly fields?: NamedFields
  }
}

/** Both sides of one wire format. */
export type Codec = ClientCodec & ProviderCodec
