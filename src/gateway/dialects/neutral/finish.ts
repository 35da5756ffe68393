/** Why a model stopped, in no vendor's words. */
export type FinishReason =
  /** It had completed its answer. */
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
  /** The sequence at which it stopped, where the provider states it. */
  readonly stopSequence: string | null
  /** The reason why it was kept back, where the provider states it. */
  readonly explanation: string | null
}

/** Returns a finish with its reason only. */
export const finishOf = (reason: FinishReason, raw: string | null = null): Finish => ({
  reason,
  raw,
  stopSequence: null,
  explanation: null,
})
