import type { BegunJob } from '../batches/begun-job.ts'
import type { HookResults } from '../checks/hook-results.ts'
import { noHooks } from '../checks/hook-results.ts'
import type { Prompt } from '../prompts/prompt.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { Reservation } from '../limits/ledger.ts'
import type { BudgetSpend } from '../limits/spent.ts'
import type { Charge } from '../metering/charge.ts'
import type { FailureKind } from '../routing/verdict.ts'
import type { HeardResponse } from '../stored-responses/heard-response.ts'
import type { Target } from '../targets/target.ts'
import type { RequestBody } from '../wire/body.ts'
import type { RecallResult } from '../cache/recall.ts'
import type { PreparedRequest } from '../outgoing/prepared.ts'
import type { TranslatedCall } from './translation.ts'
import { isRecalled } from '../metering/is-recalled.ts'

/** One try of one target, as far as it got. Only `run-attempts.ts` writes it, and none of its state reaches the next attempt. */
export interface Attempt {
  /** The place of the target in the config; `config` without one. */
  readonly option: string
  target: Target | null
  /** A body that was opened for this target, as the client sent it; null when the call had it already. */
  opened: RequestBody | null
  /** As this target is sent it, or as far as that was made. */
  body: RequestBody | null
  /** The path that this target is asked for: with the model that its config sets, and without a slug. Null: it was not aimed. */
  path: string | null
  /** The prompt of the target's config, which made its body; null: it has none. */
  prompt: Prompt | null
  hooks: HookResults
  reservation: Reservation | null
  /** The amounts that it counted against budgets, once it is settled; null: none. */
  spent: readonly BudgetSpend[] | null
  /** Its usage and cost, once it has ended; null before that. */
  charge: Charge | null
  /** The job that it began at a stored provider, once its answer has ended; null: none. */
  job: BegunJob | null
  prepared: PreparedRequest | null
  /** The request in the words of a target that speaks another dialect than the caller; null: it speaks the caller's. */
  translated: TranslatedCall | null
  /** Receives the answer for the response that is to be kept; null: none is. */
  heard: HeardResponse | null
  /** The cache's part in the answer; null: the config has no cache, or the answer may not be kept. */
  recalled: RecallResult | null
  /** `performance.now()` when the request went out to the provider; null: it did not. */
  sentAt: number | null
  /** `performance.now()` when a connection to the provider took the request; null: none did, and so the provider has none of it. */
  reachedAt: number | null
  /** The number of this repetition of its target, 0 for the first try; -1 when it failed and was the last that the config allows. */
  retries: number
  /** Milliseconds for which the exchange waited before it. */
  waitMs: number
  /** True if its first token came too late. */
  late: boolean
  /** Milliseconds after which the head of its stream went out without any content; null: content came before. */
  openedMs: number | null
  /** Tokens that the provider counted for it, when another attempt follows; else null. */
  usage: Usage | null
  /** How it failed, when another attempt may follow; else null. */
  fault: AttemptFault | null
}

/** The end of an attempt that failed. */
export interface AttemptFault {
  readonly status: number
  readonly failure: FailureKind | null
  /** Words of the provider, or of Gatehouse itself. */
  readonly message: string
  /** The length of the provider's answer, as far as it was read. */
  readonly bytes: number
  /** `performance.now()`. */
  readonly endedAt: number
}

/** Returns an attempt that has not begun. */
export const beginAttempt = (option: string, body: RequestBody | null, retries = 0): Attempt => ({
  option,
  target: null,
  opened: null,
  body,
  path: null,
  prompt: null,
  hooks: noHooks,
  reservation: null,
  spent: null,
  charge: null,
  job: null,
  prepared: null,
  translated: null,
  heard: null,
  recalled: null,
  sentAt: null,
  reachedAt: null,
  retries,
  waitMs: 0,
  late: false,
  openedMs: null,
  usage: null,
  fault: null,
})

/** Returns whether the attempt got as far as a request, or a cache hit. */
export const hasSource = (attempt: Attempt): boolean => attempt.prepared !== null || isRecalled(attempt)
