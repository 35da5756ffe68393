/** A provider's failure, in no vendor's words. */
export interface NeutralError {
  /** The HTTP status that the provider gave, or that its word stands for. */
  readonly status: number
  /** Word for word. */
  readonly message: string
  /** The provider's own word for it; null: it has none. */
  readonly type: string | null
  readonly code: string | null
  /** The field that it names, in the provider's words. */
  readonly param: string | null
  /** The seconds after which it may be tried again, where the body states them and no header. */
  readonly retryAfter?: number
}
