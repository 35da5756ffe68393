import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import type { TextPart } from '../dialects/neutral/texts.ts'
import type { Egress } from '../egress/egress.ts'
import { isFields } from '../../lib/json/fields.ts'
import {
  type BodyEdit,
  cannotTell,
  type Check,
  type FindCredentials,
  isOfSubject,
  type Phase,
  type RequestFacts,
  type Scope,
  type Subject,
  type Verdict,
} from './check.ts'
import { nameOfRelease } from './check-release.ts'
import type { Guardrail, GuardrailCheck } from './guardrail.ts'
import { type CheckRun, type HookResult, lets, toHookResult } from './hook-results.ts'

/** A body as checks see it. */
export interface CheckedBody {
  readonly json: unknown
  readonly parts: readonly TextPart[]
  /** Why it cannot be read; then every check that has to fails itself. */
  readonly unreadable?: string
  /** Why its texts were not collected; then every check of texts fails itself. */
  readonly unread?: string
  /** Why there is more than its texts; then none of them passes. */
  readonly cut?: string
  /** The facts of a request about itself. */
  readonly facts?: RequestFacts
}

export interface RunOptions<Body extends CheckedBody> {
  readonly phase: Phase
  readonly body: Body
  /** The body with some of its values changed. */
  readonly apply: (body: Body, edits: readonly BodyEdit[]) => Body
  /** Why a change cannot be made to it; null when it can. Then the check that wants it cannot do its work, and fails itself. */
  readonly refuses?: (edit: BodyEdit) => string | null
  /** True when it is the beginning of an answer, of which more may come. */
  readonly unfinished?: boolean
  readonly request: RequestFacts
  /** The status of the answer, after the call. */
  readonly status: number | null
  readonly deps: RunDeps
}

export interface RunDeps {
  readonly egress: Egress
  readonly credentials: FindCredentials
  readonly organisationId: string
  readonly now: () => number
  /** Returns whether the installation is at the level of a release. */
  readonly atLeast: (release: string) => boolean
  /** Called with the outcome of each check. */
  readonly observe: (check: string, outcome: 'passed' | 'failed' | 'error') => void
}

/** The findings of the guardrails of a phase. */
export interface Outcome<Body> {
  /** The body, with its changes. */
  readonly body: Body
  readonly changed: boolean
  readonly results: readonly HookResult[]
  /** Headers that checks add for the provider. */
  readonly headers: NonNullable<Verdict['headers']>[]
  /** The first guardrail that does not let the request go on. */
  readonly deniedBy: Guardrail | null
  readonly failed: boolean
}

/** More than the longest conversations have; beyond it a check would hold up everything else. */
const maxCharacters = 1024 * 1024
/** With so much to read, others get their turn between two checks. */
const manyCharacters = 64 * 1024
/** So do they when the checks of a request have computed for so many milliseconds. */
const longMs = 5

interface Step {
  readonly guardrail: Guardrail
  readonly check: GuardrailCheck
}

/**
 * Runs the guardrails of a phase and waits for those that are not `async`. Checks run at the same time, but for those that change the body and those
 * of a sequential guardrail: later ones see the changed body. Never rejects.
 */
export async function runGuardrails<Body extends CheckedBody>(
  guardrails: readonly Guardrail[],
  options: RunOptions<Body>,
): Promise<Outcome<Body>> {
  const applicable = guardrails.map((guardrail) => ({ guardrail, checks: checksOf(guardrail, options.phase) }))
  for (const { guardrail, checks } of applicable) if (guardrail.async) runAside(checks, options)
  const awaited = applicable.filter(({ guardrail, checks }) => !guardrail.async && checks.length > 0)
  const steps = awaited.flatMap(({ guardrail, checks }) => checks.map((check): Step => ({ guardrail, check })))
  const state = { body: options.body, runs: new Map<GuardrailCheck, CheckRun>(), headers: Array<NonNullable<Verdict['headers']>>() }
  for (const group of inGroups(steps)) {
    const runs = await runGroup(group, { ...options, body: state.body })
    for (const found of runs) {
      const { body, run } = withEdits(state.body, found, options)
      state.body = body
      state.runs.set(run.check, run)
      if (run.verdict?.headers !== undefined) state.headers.push(run.verdict.headers)
    }
  }
  const results = awaited.map(({ guardrail, checks }) => ({ guardrail, runs: checks.flatMap((check) => state.runs.get(check) ?? []) }))
  const failing = results.filter(({ runs }) => !runs.every(lets))
  return {
    body: state.body,
    changed: state.body !== options.body,
    results: results.map(({ guardrail, runs }) => toHookResult(guardrail, runs)),
    headers: state.headers,
    deniedBy: failing.find(({ guardrail }) => guardrail.deny)?.guardrail ?? null,
    failed: failing.length > 0,
  }
}

/** Local checks are over as soon as they have begun. */
async function runGroup<Body extends CheckedBody>(group: readonly Step[], options: RunOptions<Body>): Promise<readonly CheckRun[]> {
  const runs: Promise<CheckRun>[] = []
  let from = performance.now()
  for (const { check } of group) {
    if (performance.now() - from > longMs) {
      await longTurns.take(options.deps.organisationId)
      from = performance.now()
    }
    runs.push(runCheck(check, options))
  }
  return Promise.all(runs)
}

/** The checks of a guardrail that have something to do in a phase. */
export const checksOf = ({ checks }: Guardrail, phase: Phase): readonly GuardrailCheck[] =>
  checks.filter(({ definition }) => definition.phases.includes(phase))

/** No request waits for these; their findings are only counted. */
function runAside<Body extends CheckedBody>(checks: readonly GuardrailCheck[], options: RunOptions<Body>): void {
  for (const check of checks) void runCheck(check, options)
}

/** Groups the steps that may run at the same time: one that changes the body, or is part of a sequence, runs alone. */
function inGroups(steps: readonly Step[]): readonly (readonly Step[])[] {
  const groups: Step[][] = []
  let open = false
  for (const step of steps) {
    const alone = step.guardrail.sequential || step.check.changes
    if (alone || !open) groups.push([step])
    else groups.at(-1)?.push(step)
    open = !alone
  }
  return groups
}

async function runCheck<Body extends CheckedBody>(check: GuardrailCheck, options: RunOptions<Body>): Promise<CheckRun> {
  const { deps } = options
  const startedAt = deps.now()
  const from = performance.now()
  const outcome = await judged(check, options).catch((error: unknown) => error)
  const run = isVerdict(outcome) ? { verdict: outcome, error: null, serviceFailed: false } : { verdict: null, ...failure(check, outcome) }
  deps.observe(check.definition.id, run.verdict === null ? 'error' : run.verdict.passed ? 'passed' : 'failed')
  return { check, ...run, startedAt, durationMs: performance.now() - from }
}

const isVerdict = (outcome: unknown): outcome is Verdict => !(outcome instanceof Error) && isFields(outcome) && 'passed' in outcome

const failure = ({ definition }: GuardrailCheck, error: unknown) => ({
  error: error instanceof Error ? error.message : String(error),
  serviceFailed: definition.timeoutMs !== null && !isOfSubject(error),
})

async function judged<Body extends CheckedBody>(
  check: GuardrailCheck,
  { phase, body, request, status, deps, refuses, unfinished = false }: RunOptions<Body>,
): Promise<Verdict> {
  demandReadable(check, body, { deps, phase })
  const parts = inScope(body.parts, phase === 'output' ? 'all' : check.scope)
  if (check.definition.reads === 'text') {
    if (parts.length === 0) return { passed: true, data: { explanation: 'There is no text to read.' } }
    const characters = parts.reduce((sum, { text }) => sum + text.length, 0)
    if (characters > maxCharacters && !check.definition.anyLength)
      throw cannotTell(`There is more to read than ${maxCharacters} characters.`)
    if (characters > manyCharacters) await longTurns.take(deps.organisationId)
  }
  const subject: Subject = {
    phase,
    parts,
    request: body.facts ?? request,
    response: status === null ? null : { json: body.json, status },
    unfinished,
  }
  return founded(makeable(await asked(check, subject, deps), refuses), check.definition, body)
}

/** A pass that does not rest on the body that it is about, or not on all of its texts, is none. */
function founded(verdict: Verdict, { readsBody, reads }: Check, { unreadable, cut }: CheckedBody): Verdict {
  if (cut !== undefined && reads === 'text' && verdict.passed) throw cannotTell(cut)
  if (unreadable !== undefined && readsBody && verdict.passed) throw cannotTell(unreadable)
  return verdict
}

function asked({ ready, timeoutMs, passesCredentials }: GuardrailCheck, subject: Subject, deps: RunDeps): MaybePromise<Verdict> {
  const { egress, credentials, organisationId, now } = deps
  const verdict = ready.run(subject, { egress, credentials, organisationId, now, timeoutMs, passesCredentials })
  return verdict instanceof Promise ? inTime(verdict, timeoutMs) : verdict
}

/** Throws the reason why a change of a check cannot be made; a failure is one without its changes too. */
function makeable(verdict: Verdict, refuses: (edit: BodyEdit) => string | null = () => null): Verdict {
  const reason = verdict.edits?.map(refuses).find((said) => said !== null)
  if (reason === undefined) return verdict
  if (verdict.passed) throw new Error(reason)
  return { ...verdict, edits: [] }
}

interface RunPhase {
  readonly deps: RunDeps
  readonly phase: Phase
}

/** Throws the reason why a check cannot decide. The path and headers of an unreadable request may still be such that it must not pass. */
function demandReadable({ definition, releases }: GuardrailCheck, body: CheckedBody, { deps: { atLeast }, phase }: RunPhase): void {
  const { id, reads, readsBody } = definition
  const { unreadable, unread } = body
  for (const { release, field } of releases)
    if (!atLeast(release))
      throw cannotTell(`${nameOfRelease(id, field)} comes with release ${release}, and this installation is at an earlier level.`)
  if (unreadable !== undefined && readsBody && (reads === 'text' || phase === 'output')) throw cannotTell(unreadable)
  if (unread !== undefined && reads === 'text') throw cannotTell(unread)
}

/** A call may take several steps, each with the limit of the whole: together they get no more. */
async function inTime(verdict: Promise<Verdict>, timeoutMs: number): Promise<Verdict> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`It took longer than ${timeoutMs} ms.`)), timeoutMs)
  return Promise.race([verdict, late]).finally(() => clearTimeout(timer))
}

function inScope(parts: readonly TextPart[], scope: Scope): readonly TextPart[] {
  if (scope === 'all') return parts
  return scope === 'last' ? lastMessage(parts) : parts.filter(({ role }) => role === scope)
}

/** The parts of the message that comes last. */
function lastMessage(parts: readonly TextPart[]): readonly TextPart[] {
  const last = parts.at(-1)
  if (last === undefined) return []
  const [list, at] = last.path
  return typeof at === 'number' ? parts.filter(({ path }) => path[0] === list && path[1] === at) : [last]
}

/** The body with the changes of a check; a change that cannot be made is a fault of the check. */
function withEdits<Body extends CheckedBody>(
  body: Body,
  run: CheckRun,
  { apply }: RunOptions<Body>,
): { readonly body: Body; readonly run: CheckRun } {
  const { edits = [] } = run.verdict ?? {}
  try {
    return { body: edits.length === 0 ? body : apply(body, edits), run }
  } catch (error) {
    if (run.verdict?.passed === false) return { body, run: { ...run, verdict: { ...run.verdict, edits: [] } } }
    return { body, run: { ...run, verdict: null, ...failure(run.check, error) } }
  }
}
