import type { MaybePromise } from '../../lib/maybe-promise.ts'

/** The owner of an answer: no other workspace ever gets it. */
export interface AnswerScope {
  readonly organisationId: string
  readonly workspaceId: string | null
  /** Empty: the common one. */
  readonly namespace: string
}

/** A whole, successful answer of a provider, as it came. Times are epoch milliseconds. */
export interface CachedAnswer {
  readonly status: number
  /** Flat name, value …: the headers that describe the body. */
  readonly rawHeaders: readonly string[]
  /** The body in its content encoding. */
  readonly body: Buffer
  readonly stream: boolean
  /** The exchange in which the provider gave it. */
  readonly requestId: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** An answer to be kept. */
export interface KeptAnswer {
  readonly answer: CachedAnswer
  /** `performance.now()` when the request began. */
  readonly askedAt: number
}

/** Keeps answers. Neither method throws or rejects: an answer that cannot be read is a miss. */
export interface AnswerStore {
  /** Null: there is none that is still fresh. */
  get(key: string, scope: AnswerScope): MaybePromise<CachedAnswer | null>
  /** Takes an answer to be kept, unless answers were purged since its request began. */
  put(key: string, scope: AnswerScope, kept: KeptAnswer): void
  /** Returns whether answers of the organisation were purged after `at`, a `performance.now()`. */
  purgedSince(scope: AnswerScope, at: number): boolean
  /** The most bytes of a body that are kept. */
  readonly maxBodyBytes: number
}
