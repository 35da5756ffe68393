import type { BegunJob } from '../batches/begun-job.ts'
import type { HookResults } from '../checks/hook-results.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { BudgetSpend } from '../limits/spent.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import type { CostState } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import type { FailureKind } from '../routing/verdict.ts'

export type Outcome =
  /** The whole answer reached the client. */
  | 'complete'
  /** The provider broke off, lied about the length or went silent. */
  | 'incomplete'
  /** The client left first. */
  | 'client_closed'
  /** The gateway refused or could not reach the provider. */
  | 'error'

/** One exchange, as it is logged for good. Durations are milliseconds, times epoch milliseconds. */
export interface ExchangeRecord {
  /** UUID v7; also the request id. */
  readonly id: string
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly createdAt: number
  readonly apiKeyId: string
  readonly userId: string | null
  readonly clientAddress: string
  readonly method: string
  /** Path and query as the client sent them, after `/v1`. */
  readonly path: string
  readonly operation: string
  readonly provider: string | null
  readonly providerSlug: string | null
  readonly model: string | null
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly stream: boolean
  readonly durationMs: number
  /** Until the provider's headers; null when it was not reached. */
  readonly upstreamMs: number | null
  /** Until the first body byte went to the client. */
  readonly firstByteMs: number | null
  readonly usage: Usage | null
  /** The source of `usage`: the provider's figures, an estimate in their place, a cache hit, which is free, or none (unmetered). */
  readonly usageSource: 'provider' | 'estimate' | 'cache' | 'none'
  /** Null: no provider was to be asked. */
  readonly cost: LoggedCost | null
  /** The amounts that were counted against budgets; null: none applied. */
  readonly spent: readonly AttemptSpend[] | null
  /** The jobs that its attempts began at stored providers, each charged when it has ended; null, as for nearly all: none. */
  readonly jobs: readonly LoggedJob[] | null
  readonly retryCount: number
  readonly cacheStatus: string
  readonly lastUsedOption: string | null
  /** The exchange whose answer was given again; null: the answer is no cached one. */
  readonly cachedLogId: string | null
  /** The exchange of which this one is a copy for a mirror; null: it is none. */
  readonly mirrorOf: string | null
  /** False for a copy that does not count for the budgets of its caller. */
  readonly billed: boolean
  /** The stored config that the request began with; null: none, or one that the request brought. */
  readonly config: { readonly slug: string; readonly version: number } | null
  readonly traceId: string
  readonly spanId: string | null
  readonly parentSpanId: string | null
  readonly spanName: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly requestBytes: number
  readonly responseBytes: number
  readonly upstreamUrl: string | null
  /** The prompt that the request named; null when it named none. */
  readonly prompt: LoggedPrompt | null
  /** The findings of guardrails; null when none ran that a request waited for. */
  readonly hooks: HookResults | null
  /** The attempts, in order; null when there was only one, which the record itself describes. */
  readonly attempts: readonly LoggedAttempt[] | null
  /** Null: the provider has the caller's format, or there are no losses. */
  readonly translation: LoggedTranslation | null
  /** Headers with credentials removed. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, string>>
}

/** The losses of a translation, and its provider's error. */
export interface LoggedTranslation {
  /** The fields that were dropped, in the caller's words. */
  readonly dropped: readonly string[]
  /** The error of the provider as it gave it; null: it gave none, or no words are kept. */
  readonly providerError: string | null
}

/** The cost of an exchange. Amounts are whole pico-US-dollars as decimal texts: JSON numbers would round them. */
export interface LoggedCost {
  readonly state: CostState
  /** Null when unpriced. */
  readonly amount: string | null
  /** The digest of the price list. */
  readonly catalogue: string | null
  /** The cost that the answer would have had, had it not come from the cache. */
  readonly saved: string | null
  readonly lines: readonly LoggedCostLine[]
  readonly unpriced: readonly string[]
  readonly charges: readonly LoggedCharge[]
}

/** The amount that one attempt counted against a budget. */
export interface AttemptSpend extends BudgetSpend {
  /** Its place in the trail. */
  readonly attempt: number
}

/** A job that one attempt began. */
export interface LoggedJob extends BegunJob {
  /** Its place in the trail. */
  readonly attempt: number
}

/** count x rate = amount, of one attempt. */
export interface LoggedCostLine {
  readonly attempt: number
  readonly dimension: string
  readonly count: number
  readonly unit: string
  readonly rate: string | null
  readonly amount: string
  readonly source: string
  readonly note: string | null
}

/** The usage of one attempt, with all that another price list needs to price it again. */
export interface LoggedCharge {
  readonly attempt: number
  readonly provider: string | null
  readonly sent: string | null
  readonly answered: string | null
  readonly priced: string | null
  readonly recalled: boolean
  readonly counts: Counts
  readonly facts: PriceFacts | null
  readonly reported: string | null
  readonly estimated: boolean
  readonly inconsistent: boolean
  /** The provider's own usage object. */
  readonly usage: Fields | null
  /** The stored provider whose integration's prices applied; null: none. Rows of before have none. */
  readonly slug: string | null
  /** True when its config left provisioned throughput out of the costs. */
  readonly skipped: boolean
  /** True when the cost was unknown: the attempt began a job that costs when it has ended, or its answer did not come. Absent: false. */
  readonly untold?: boolean
}

/** One try of one target. */
export interface LoggedAttempt {
  /** Its place in the config: `config.targets[1]`. */
  readonly option: string
  readonly provider: string | null
  readonly providerSlug: string | null
  readonly model: string | null
  /** The status of the answer, or of the error in its place. */
  readonly status: number
  readonly failure: FailureKind | null
  /** Words of the provider or of Gatehouse; null when there are none, or when bodies are not kept. */
  readonly error: string | null
  /** Milliseconds from the request until this attempt was sent; null: it was not. */
  readonly startMs: number | null
  readonly durationMs: number | null
  readonly responseBytes: number
  /** Tokens that the provider counted, also for an answer that was given up. Absent in records of processes that did not log it. */
  readonly usage?: Usage | null
  /** Milliseconds after which the headers of its stream went out before any content. Absent: they did not. */
  readonly openedMs?: number
}

/** A prompt, and the version of it that served. */
export interface LoggedPrompt {
  readonly id: string
  readonly versionId: string
  readonly slug: string
}

/** The bodies of an exchange, as bytes; null when not kept (`x-service-debug: false`), cut at the journal's limit. */
export interface ExchangeBodies {
  readonly request: Uint8Array | null
  readonly response: Uint8Array | null
  readonly requestTruncated: boolean
  readonly responseTruncated: boolean
}

/**
 * One record per exchange, appended before the last byte goes to the client. Synchronous: when it returns, the record survives a kill -9 of this
 * process; records that the disk refuses are held in memory. Never throws: records without room are counted in `gateway_log_spool_dropped_total`.
 */
export interface Journal {
  append(record: ExchangeRecord, bodies: ExchangeBodies): void
  /** The most bytes of one body that are kept. */
  readonly maxBodyBytes: number
}
