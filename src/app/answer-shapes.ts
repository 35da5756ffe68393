/** Answers in JSON: those of a route that names no other shape. */
export interface JsonShape {
  readonly kind: 'json'
}

/** A person's browser is sent here, and sent on by 303. An error is a page for a client that asks for `text/html` sooner than for JSON. */
export interface RedirectShape {
  readonly kind: 'redirect'
}

/**
 * Bytes of these media types: the handler returns a `LaterAnswer`, and `response` describes one message of them. A POST like this takes no
 * Idempotency-Key.
 */
export interface StreamShape {
  readonly kind: 'stream'
  readonly types: readonly string[]
}

/** JSON, or a message of protobuf as the answer to one: `read` returns the JSON form of a body. */
export interface ProtobufShape<Result = unknown> {
  readonly kind: 'protobuf'
  read(bytes: Uint8Array): unknown
  write(answer: Result): Uint8Array
}

/** The shape of a route's answers. The frame has one file for each (`http/shapes`). */
export type AnswerShape<Result = unknown> = JsonShape | RedirectShape | StreamShape | ProtobufShape<Result>

export const json: JsonShape = { kind: 'json' }

export const redirect: RedirectShape = { kind: 'redirect' }

export const stream = (types: readonly string[]): StreamShape => ({ kind: 'stream', types })

export const protobuf = <Result>(codec: Omit<ProtobufShape<Result>, 'kind'>): ProtobufShape<Result> => ({ kind: 'protobuf', ...codec })

/** Returns the media types of an answer. */
export const answerTypes = (shape: AnswerShape = json): readonly string[] => (shape.kind === 'stream' ? shape.types : ['application/json'])

/** Returns true if an answer can be kept for an Idempotency-Key, and be given again. */
export const isKept = (shape: AnswerShape = json): boolean => shape.kind !== 'stream'
