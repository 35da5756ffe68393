import type { Outcome } from '../journal/log-record.ts'
import type { Usage } from '../dialects/neutral/usage.ts'

/** The facts of one finished exchange for the metrics. Durations are milliseconds. */
export interface Observation {
  readonly operation: string
  readonly method: string
  readonly status: number
  readonly outcome: Outcome
  /** A row of the catalogue, or null when the exchange did not get that far. */
  readonly provider: string | null
  readonly stream: boolean
  readonly cacheStatus: string
  readonly durationMs: number
  readonly upstreamMs: number | null
  readonly firstByteMs: number | null
  /** Time spent in the gateway itself: until the request was sent on, plus from the provider's last byte to ours. */
  readonly overheadMs: number
  readonly usage: Usage | null
}

/** `answered` and `failed` are copies that were sent; of the others, by why they were not. */
export type MirrorOutcome = 'answered' | 'failed' | 'busy' | 'too_large' | 'draining'
/** How an embedding went; `resting`: none was asked for, because the one before failed. */
export type EmbeddingOutcome = 'ok' | 'failed' | 'slow' | 'resting'

/** The metrics door. Cheap: called once an exchange, on the hot path. */
export interface GatewayMetrics {
  record(observation: Observation): void
  /** The cost of one attempt, in whole pico-US-dollars. */
  spent(provider: string, pico: bigint): void
  /** One attempt whose provider returned figures that contradict each other. */
  contradicted(provider: string): void
  /** One attempt after which another followed; `reason` is a kind of failure, or a class of statuses such as `5xx`. */
  attemptFailed(provider: string, reason: string): void
  /** One request that a mirror copied, or did not copy. */
  mirrored(outcome: MirrorOutcome): void
  /** One run of one check of a guardrail. */
  checkRan(check: string, outcome: 'passed' | 'failed' | 'error'): void
  /** One embedding for the semantic cache. */
  embedded(outcome: EmbeddingOutcome): void
  authFailure(reason: 'missing' | 'unknown' | 'expired' | 'scope' | 'token' | 'limited' | 'invite' | 'session'): void
}
