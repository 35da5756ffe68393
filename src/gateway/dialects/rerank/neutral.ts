import type { Fields } from '../../../lib/json/fields.ts'
import type { TaskContext } from '../tasks/task.ts'

/** A request to order texts by a question. */
export interface RerankRequest {
  readonly query: string
  /** Texts; and pictures in the provider's own words, where it takes them. */
  readonly documents: readonly unknown[]
  readonly topN: number | null
  readonly returnsDocuments: boolean
  /** Fields that are not read. */
  readonly rest: Fields
}

/** The place of a document of the caller's list, and how well it fits. */
export interface RankedDocument {
  readonly index: number
  readonly score: number
}

/** Writes calls for one provider format, and reads their answers. */
export interface RerankProvider {
  /** Native fields that go on as they are. */
  readonly keeps: readonly string[]
  /** Returns the tokens that one chunk of a document has for a model, where documents are bounded by tokens in place of chunks; absent: they are not. */
  readonly chunkOf?: (model: string) => number
  /** True if it takes pictures too. */
  readonly seesPictures?: boolean
  encode(request: RerankRequest, context: TaskContext): Fields
  /** Null: it is no answer. */
  decode(json: Fields): readonly RankedDocument[] | null
  /** Returns the part of an answer that the caller gets beside the order. */
  tells(json: Fields): Fields
}
