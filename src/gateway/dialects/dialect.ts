import type { ApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { JsonPath } from '../../lib/json/json-path.ts'
import type { OfferedModel } from './neutral/model.ts'
import type { ExtractedTexts, TextPart } from './neutral/texts.ts'

/** The wire formats of clients and providers; `openai-platform` is OpenAI's API for files, batches, fine-tunes and threads. */
export type DialectId =
  | 'openai-chat'
  | 'completions'
  | 'openai-responses'
  | 'openai-platform'
  | 'anthropic'
  | 'google'
  | 'cohere'
  | 'bedrock'
  | 'ollama'
  | 'oracle'
  | 'replicate'
  | 'mistral-fim'
  | 'triton'
  | 'workers-ai'
  | 'embeddings'
  | 'images'
  | 'audio'
  | 'moderations'

/** The dialects of clients, in which Gatehouse gives answers of its own. */
export type ClientDialectId = Extract<DialectId, 'openai-chat' | 'openai-responses' | 'anthropic' | 'google'>

/** The answers of Gatehouse's own in one dialect. */
export interface OwnAnswers {
  readonly errorBody: (error: ApiError, requestId: string) => object
  /** Returns the event that ends a stream which broke off; no end mark follows it. */
  readonly errorEvent: (error: ApiError, requestId: string) => string
  readonly models: ModelLists
}

/** Writes the answers of a dialect's model endpoints: the list of models, and one model. */
export interface ModelLists {
  readonly list: (models: readonly OfferedModel[], query: URLSearchParams) => object
  readonly one: (model: OfferedModel) => object
}

/** The places of model names in requests. */
export interface ModelPlaces {
  /** The places in a body beside its own `model`, such as `tools[*].model`. */
  readonly body: readonly string[]
  /** The segments of a path that stand before a model: `/deployments/gpt-4o/chat/completions`. */
  readonly segments: readonly string[]
}

/** Marks in the bytes of answers, for a look at an answer that is not parsed. */
export interface AnswerMarks {
  /** In the last frame of a whole stream. */
  readonly end: readonly string[]
  /** The places of an error within a stream or a body that began as a success. */
  readonly error: readonly RegExp[]
}

/** The words by which providers name a failure: the values of `type`, `code` or `status` of an error. */
export interface ErrorWords {
  /** The HTTP statuses that they stand for. */
  readonly statuses: Readonly<Record<string, number>>
  /** For a request that is too long for the model. */
  readonly contextWindow?: readonly string[]
  /** For content that the provider refuses. */
  readonly contentPolicy?: readonly string[]
  readonly rateLimit?: readonly string[]
}

/** The knowledge about one wire format: data and pure functions. */
export interface Dialect {
  readonly texts: DialectTexts
  readonly usage?: UsagePlaces
  readonly marks?: AnswerMarks
  readonly models?: ModelPlaces
  readonly errors?: ErrorWords
}

/** Reads the texts in one field of a request. */
export type TextReader = (value: unknown, path: JsonPath) => readonly TextPart[]

/** The places of the texts of people and models in bodies. A field that is not listed is read too, unless its name is one of data. */
export interface DialectTexts {
  /** The fields of a request that hold instructions to the model. They are read first. */
  readonly system?: readonly string[]
  /** The other fields of a request that hold texts, in the order in which they are read: the last text is the last word. */
  readonly request: Readonly<Record<string, TextReader>>
  /** The fields that hold a list of turns: a body with one of them is understood on every path. */
  readonly conversations?: readonly string[]
  /** The role of the texts in other fields, which is `user` unless it stands here. */
  readonly roles?: Readonly<Record<string, string>>
  /** Labels and stop sequences: the model does not see them. */
  readonly unheard?: readonly string[]
  /** The fields of an answer that hold a model's text. */
  readonly answer: readonly string[]
  /** True if answers to a POST hold only a model's text and figures about it: then one of another shape is read whole. */
  readonly speaks?: true
  /** Reads one frame of a stream. Null: the frame is not of this dialect. */
  readonly frame?: (json: Fields) => ExtractedTexts | null
  /** The values of `type` in the frames after which no text of the model comes. */
  readonly lastFrames?: readonly string[]
}

/** Where a count of tokens may stand: a field, or a field of a field. */
export type CountPlace = readonly [outer: string, inner?: string]

/** The places of token counts in answers. */
export interface UsagePlaces {
  readonly inputTokens: readonly CountPlace[]
  readonly outputTokens: readonly CountPlace[]
  readonly totalTokens: readonly CountPlace[]
  readonly cacheReadTokens: readonly CountPlace[]
  readonly cacheWriteTokens: readonly CountPlace[]
  readonly reasoningTokens: readonly CountPlace[]
}
