import { editJson } from '../../lib/json/json-edit.ts'
import { modelOf } from '../wire/body.ts'
import { matchOperation } from '../operations/match.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import { egressFor } from '../egress/narrowed.ts'
import type { Phase, RequestFacts } from './check.ts'
import type { Guardrail, GuardrailCheck } from './guardrail.ts'
import type { CheckResult } from './hook-results.ts'
import { requestTexts } from '../dialects/request-texts.ts'
import { answerTexts } from '../dialects/answer-texts.ts'
import { checksOf, type CheckedBody, type RunDeps, runGuardrails } from './run.ts'

/** The sample on which a guardrail is tried: bodies as they would be sent and answered. */
export interface Sample {
  readonly phase: Phase
  /** Below `/v1`. */
  readonly path: string
  readonly request: unknown
  /** Looked at in the phase `output`. */
  readonly response: unknown
  readonly metadata: Readonly<Record<string, string>>
  /** Absent: no provider was called. */
  readonly provider?: string
}

/** The outcome of a guardrail on a sample. */
export interface Trial {
  readonly verdict: boolean
  /** True when the caller would be refused. */
  readonly denied: boolean
  readonly transformed: boolean
  /** The body that would go on. */
  readonly body: unknown
  readonly checks: readonly CheckResult[]
}

/** A person waits for the answer, and a connection of the database with them. */
const longestMs = 10_000

/** The needs of a trial beside those of every run. */
export interface TrialDeps extends RunDeps {
  /** The hosts that the organisation lets checks call; null: all that the installation does. */
  readonly allowedHosts: AllowedHosts | null
}

/** Runs the checks of a guardrail that look at the phase, and waits for all of them, also when the guardrail is `async`. */
export async function tryGuardrail(guardrail: Guardrail, sample: Sample, { allowedHosts, ...deps }: TrialDeps): Promise<Trial> {
  const { phase, request, response } = sample
  const facts = factsOf(sample)
  const look = (json: unknown): CheckedBody => ({ json, parts: textsOf(json, phase, facts) })
  const checks = checksOf(guardrail, phase).map(inTime)
  const { body, changed, results, deniedBy, failed } = await runGuardrails([{ ...guardrail, async: false, checks }], {
    phase,
    body: look(phase === 'input' ? request : response),
    apply: (held, edits) => look(JSON.parse(editJson(JSON.stringify(held.json), edits))),
    request: facts,
    status: phase === 'input' ? null : 200,
    deps: { ...deps, egress: egressFor(deps.egress, { organisationId: deps.organisationId, allowedHosts }) },
  })
  return {
    verdict: !failed,
    denied: deniedBy !== null && !guardrail.async,
    transformed: changed,
    body: body.json,
    checks: results.flatMap((result) => result.checks),
  }
}

const inTime = (check: GuardrailCheck): GuardrailCheck => Object.assign({}, check, { timeoutMs: Math.min(check.timeoutMs, longestMs) })

const textsOf = (json: unknown, phase: Phase, { dialect, method }: RequestFacts) =>
  phase === 'input' ? requestTexts(json, dialect) : answerTexts(json, { dialect, method })

function factsOf({ path, request, metadata, provider = '' }: Sample): RequestFacts {
  const model = modelOf(request)
  const { name: operation, spec } = matchOperation('POST', path)
  return {
    json: request,
    method: 'POST',
    path,
    operation,
    dialect: spec?.dialect ?? null,
    prompted: false,
    stream: false,
    model,
    models: () => (model === null ? [] : [model]),
    provider,
    metadata,
    header: () => undefined,
  }
}
