import type { Fields } from '../../../lib/json/fields.ts'
import type { TaskContext } from '../tasks/task.ts'

/** The uses of vectors. A word that is not in this list is the caller's own, and has no counterpart elsewhere. */
export type Purpose = 'query' | 'document' | 'classification' | 'clustering' | 'similarity' | 'code-query' | 'question' | 'fact'

/** A request for vectors of texts. */
export interface EmbeddingRequest {
  /** Texts; and tokens or parts, which only providers take whose API is the caller's own. */
  readonly inputs: readonly unknown[]
  readonly dimensions: number | null
  readonly purpose: Purpose | null
  readonly title: string | null
  /** The caller's names for the fields above. */
  readonly names: { readonly inputs: string; readonly dimensions: string; readonly purpose: string; readonly title: string }
  /** The fields that are not read, by the names that the caller gave them. */
  readonly rest: Fields
}

/** The vectors of one call, in the order of its texts. */
export interface EmbeddingAnswer {
  readonly vectors: readonly (readonly number[])[]
  /** Null: the provider did not state it. */
  readonly tokens: number | null
}

/** Reads requests of one client format, and writes their answers. */
export interface EmbeddingClient {
  decode(body: Fields): EmbeddingRequest
  encode(answer: EncodedAnswer, body: Fields): Fields
}

export interface EncodedAnswer extends EmbeddingAnswer {
  readonly model: string
  readonly tokens: number
  /** True if the count is not from the model's own vocabulary. */
  readonly estimated: boolean
}

/** Writes calls for one provider format, and reads their answers. */
export interface EmbeddingProvider {
  /** The most texts of one call. */
  readonly most: number
  /** True if its API is OpenAI's with differences: it takes the caller's body, and its answer needs little change. */
  readonly isCompatible?: true
  encode(request: EmbeddingRequest, context: TaskContext): Fields
  /** Null: it is no answer. */
  decode(json: unknown): EmbeddingAnswer | null
}
