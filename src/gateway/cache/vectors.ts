import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AnswerScope } from './answer-store.ts'

/** A text that was asked, where only texts stand that are otherwise asked alike. */
export interface PlacedVector {
  readonly scope: AnswerScope
  /** A hash of all that must be equal. */
  readonly partition: string
  /** A vector of the length 1. */
  readonly vector: Float32Array
}

/** An answer, by the text to which it was given. */
export interface PlacedAnswer extends PlacedVector {
  /** Its key in the store of answers. */
  readonly key: string
  /** `performance.now()` when its request began. */
  readonly askedAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Keeps vectors of texts. Neither method throws or rejects: an unsearchable store counts as empty. */
export interface Vectors {
  /** Finds the answers to the nearest texts, from the cosine `threshold` on: a few keys, the nearest first. Their answers may be gone. */
  nearest(asked: PlacedVector, threshold: number): MaybePromise<readonly string[]>
  put(answer: PlacedAnswer): void
}
