/** Why a model stopped, in no vendor's words. */
export type FinishReason =
  /** It had said all. */
  | 'stop'
  | 'stop-sequence'
  /** The cap of tokens. */
  | 'length'
  /** The window of the model. */
  | 'context'
  | 'tool-calls'
  /** A filter of the provider, or the model's own refusal. */
  | 'content-filter'
  /** The vendor runs tools, and wants to be asked again. */
  | 'pause'
  /** The provider failed while it answered. */
  | 'error'
  | 'other'

export interface Finish {
  readonly reason: FinishReason
  /** The word of the provider. */
  readonly raw: string | null
  /** The sequence at which it stopped, where the provider says so. */
  readonly stopSequence: string | null
  /** The reason why it was kept back, where the provider says so. */
  readonly explanation: string | null
}

/** Returns a finish of which nothing but its reason is known. */
export const finishOf = (reason: FinishReason, raw: string | null = null): Finish => ({
  reason,
  raw,
  stopSequence: null,
  explanation: null,
})
