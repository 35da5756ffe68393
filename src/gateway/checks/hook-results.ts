import type { Phase, Verdict } from './check.ts'
import type { Feedback, Guardrail, GuardrailCheck } from './guardrail.ts'

/** How one check went. Times are epoch milliseconds, durations milliseconds. */
export interface CheckRun {
  readonly check: GuardrailCheck
  /** Null: it failed itself. */
  readonly verdict: Verdict | null
  readonly error: string | null
  /** True when it failed itself because a service did; else because of input that its sender controls. */
  readonly serviceFailed: boolean
  readonly startedAt: number
  readonly durationMs: number
}

/** Returns whether a check lets the request go on; where a service failed, `on_error` decides. Input that cannot be judged does not pass. */
export const lets = ({ verdict, check, serviceFailed }: CheckRun): boolean =>
  verdict?.passed ?? (serviceFailed && check.onError === 'allow')

/** One guardrail's part of `hook_results`. */
export interface HookResult {
  readonly verdict: boolean
  readonly id: string
  readonly name: string
  readonly transformed: boolean
  readonly checks: readonly CheckResult[]
  readonly feedback: (Feedback & { readonly metadata: Readonly<Record<string, unknown>> }) | null
  readonly execution_time: number
  readonly async: boolean
  readonly type: 'guardrail'
  readonly created_at: string
  readonly deny: boolean
}

export interface CheckResult {
  readonly verdict: boolean
  readonly id: string
  readonly data: Readonly<Record<string, unknown>> | null
  readonly error?: { readonly name: string; readonly message: string }
  readonly execution_time: number
  readonly transformed: boolean
  readonly created_at: string
  readonly log: null
  readonly fail_on_error: boolean
}

/** The results of a request, as answers carry them. */
export interface HookResults {
  readonly before_request_hooks: readonly HookResult[]
  readonly after_request_hooks: readonly HookResult[]
}

/** The results of a request that no guardrail has seen. */
export const noHooks: HookResults = { before_request_hooks: [], after_request_hooks: [] }

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
const changesAnything = ({ verdict }: CheckRun): boolean => (verdict?.edits?.length ?? 0) > 0

function toCheckResult(run: CheckRun): CheckResult {
  return {
    verdict: lets(run),
    id: run.check.definition.id,
    data: run.verdict?.data ?? null,
    ...(run.error !== null && { error: { name: 'CheckError', message: run.error } }),
    execution_time: rounded(run.durationMs),
    transformed: changesAnything(run),
    created_at: new Date(run.startedAt).toISOString(),
    log: null,
    fail_on_error: run.check.onError === 'deny',
  }
}

/** Returns the result of a guardrail, as answers show it. */
export function toHookResult(guardrail: Guardrail, runs: readonly CheckRun[]): HookResult {
  const verdict = runs.every(lets)
  const startedAt = Math.min(...runs.map((run) => run.startedAt))
  const end = Math.max(...runs.map((run) => run.startedAt + run.durationMs))
  const ids = (wanted: (run: CheckRun) => boolean) => runs.filter(wanted).map(({ check }) => check.definition.id)
  const feedback = verdict ? guardrail.onSuccess : guardrail.onFail
  const outcomes = {
    successfulChecks: ids((run) => run.verdict?.passed === true).join(', '),
    failedChecks: ids((run) => run.verdict?.passed === false).join(', '),
    erroredChecks: ids((run) => run.verdict === null).join(', '),
  }
  const said = typeof feedback?.metadata === 'object' && feedback.metadata !== null ? feedback.metadata : {}
  return {
    verdict,
    id: guardrail.id,
    name: guardrail.name,
    transformed: runs.some(changesAnything),
    checks: runs.map(toCheckResult),
    feedback: feedback === null ? null : { ...feedback, metadata: { ...said, ...outcomes } },
    execution_time: runs.length === 0 ? 0 : rounded(end - startedAt),
    async: guardrail.async,
    type: 'guardrail',
    created_at: new Date(runs.length === 0 ? Date.now() : startedAt).toISOString(),
    deny: guardrail.deny,
  }
}

/** The field of `hook_results` that a phase fills. */
export const hookField = { input: 'before_request_hooks', output: 'after_request_hooks' } as const satisfies Record<
  Phase,
  keyof HookResults
>

/** Longer data of checks is not kept in a log. */
const longestLog = 64 * 1024

/** Returns the part of the results that a log keeps; without data about the texts where the caller lets it keep no bodies. */
export function loggedHooks(hooks: HookResults, keepsData: boolean): HookResults | null {
  const { before_request_hooks: before, after_request_hooks: after } = hooks
  if (before.length + after.length === 0) return null
  if (keepsData && JSON.stringify(hooks).length <= longestLog) return hooks
  return { before_request_hooks: before.map(withoutData), after_request_hooks: after.map(withoutData) }
}

const withoutData = (result: HookResult): HookResult => ({
  ...result,
  checks: result.checks.map((check) => Object.assign({}, check, { data: null })),
})
