/** Failures that a status alone does not distinguish. */
export const failureKinds = [
  'network',
  'timeout',
  'first_token_timeout',
  'stream_error',
  'context_window',
  'content_policy',
  'rate_limit',
  'guardrail',
] as const

export type FailureKind = (typeof failureKinds)[number]

/** How one attempt ended, as far as routing needs it. */
export interface AttemptReport {
  /** Status that the caller would get. */
  readonly status: number
  /** Null for an answer without a failure of a known kind. */
  readonly failure: FailureKind | null
  /** True if sending the request once more cannot have an effect twice: the call is safe, or the provider did nothing. */
  readonly repeatable: boolean
  /** True if no other target may be tried: bytes went to the caller, the caller left, or the gateway itself refused. */
  readonly final: boolean
  /** Milliseconds that the provider asks to wait; null when it asks for none. */
  readonly retryAfterMs: number | null
}

/** The ends of an attempt that lead to the next try. */
export interface FailureRule {
  /** Null: every status but 2xx. */
  readonly statuses: ReadonlySet<number> | null
  readonly kinds: ReadonlySet<FailureKind>
  /** True if a status stands for failures that never had one: 500, 502 and 503 for the network, 408 and 504 for time. */
  readonly named: boolean
}

/** Statuses by which configs name failures that had no answer. */
const standIns: Readonly<Partial<Record<FailureKind, readonly number[]>>> = {
  network: [500, 502, 503],
  timeout: [408, 504],
  first_token_timeout: [408, 504],
}

const success = (status: number): boolean => status >= 200 && status < 300

/** Returns true if another try may follow: the rule names this end, and repeating it is allowed. */
export const leadsOn = (rule: FailureRule, report: AttemptReport): boolean => !report.final && report.repeatable && isFailure(rule, report)

function isFailure({ statuses, kinds, named }: FailureRule, { status, failure }: AttemptReport): boolean {
  if (failure !== null && kinds.has(failure)) return true
  if (status === 429 && kinds.has('rate_limit')) return true
  if (statuses === null) return !success(status)
  const standIn = failure === null ? undefined : standIns[failure]
  if (standIn === undefined) return statuses.has(status)
  return named && (statuses.has(status) || standIn.some((one) => statuses.has(one)))
}

/** Statuses that are tried again unless a config names its own. */
const retriedStatuses = new Set([429, 500, 502, 503, 504, 529])

/** Compiles the failures that a `retry` names. A timeout of ours is retried only when the config names it: it has cost the most time already. */
export function retryAfterFailures(statuses: readonly number[] | undefined, kinds: readonly FailureKind[] | undefined): FailureRule {
  if (statuses === undefined && kinds === undefined)
    return { statuses: retriedStatuses, kinds: new Set(['network', 'stream_error']), named: false }
  return { statuses: new Set(statuses), kinds: new Set(kinds), named: true }
}

/** Compiles the failures that lead from one target of a `fallback` to the next. */
export function fallbackAfterFailures(statuses: readonly number[] | undefined, kinds: readonly FailureKind[] | undefined): FailureRule {
  if (statuses === undefined && kinds === undefined) return { statuses: null, kinds: new Set(), named: true }
  return { statuses: new Set(statuses), kinds: new Set(kinds), named: true }
}
