import type { Fields } from '../../../lib/json/fields.ts'

/** The images that a tool of the provider's drew for an answer, which another model makes, at prices of its own. */
export interface DrawnImages {
  /** The provider's own usage object of that model; null: the answer has none. */
  readonly usage: Fields | null
  readonly images: readonly DrawnImage[]
}

/** An image. Null: the answer does not state it. */
export interface DrawnImage {
  readonly model: string | null
  readonly size: string | null
  readonly quality: string | null
}
