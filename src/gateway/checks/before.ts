import { ApiError } from '../../lib/errors.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import type { RequestBody } from '../wire/body.ts'
import type { AimedCall } from '../call.ts'
import type { Verdict } from './check.ts'
import { denial } from './denial.ts'
import { requestFacts } from './facts.ts'
import { type HookResults, noHooks } from './hook-results.ts'
import { type GuardrailPlan, readsBody } from './plan.ts'
import { editBody, type InspectedBody, inspectBody, refusesEdit } from './request-body.ts'
import { type RunDeps, runGuardrails } from './run.ts'

/** The findings of the guardrails before a call. */
export interface CheckedCall {
  /** The call as they leave it. */
  readonly aimed: AimedCall
  /** True when they changed its body. */
  readonly changed: boolean
  /** Headers that they add for the provider. */
  readonly headers: readonly NonNullable<Verdict['headers']>[]
  readonly hooks: HookResults
  /** The refusal of the guardrail that denies the call; null: they let it go on. */
  readonly denial: ApiError | null
}

/** Runs the guardrails before the call. */
export async function checkBefore(aimed: AimedCall, guardrails: GuardrailPlan, deps: RunDeps): Promise<CheckedCall> {
  if (guardrails.input.length === 0) return { aimed, changed: false, headers: [], hooks: noHooks, denial: null }
  if (readsBody(guardrails)) refuseRepeatedKeys(aimed.body)
  const { contentType } = aimed.call.headers
  const look = (body: RequestBody) => inspectBody(body, aimed)
  const { results, body, headers, deniedBy, changed } = await runGuardrails(guardrails.input, {
    phase: 'input',
    body: look(aimed.body),
    apply: (held: InspectedBody, edits) => look(editBody(held, edits, contentType)),
    refuses: refusesEdit,
    request: requestFacts(aimed),
    status: null,
    deps,
  })
  const hooks: HookResults = { ...noHooks, before_request_hooks: results }
  const checked = { ...aimed, body: body.body }
  return { aimed: checked, changed, headers, hooks, denial: deniedBy === null ? null : denial(deniedBy, hooks) }
}

/** A provider may read another of two values than the checks do. */
function refuseRepeatedKeys({ kind, bytes, json }: RequestBody): void {
  const key = kind === 'json' && bytes !== null ? repeatedKey(bytes.toString('utf8'), json) : null
  if (key === null) return
  const quoted = JSON.stringify(key.slice(0, 100))
  throw new ApiError('invalid_request', `An object of the body has the key ${quoted} twice, and guardrails could read only one.`, {
    param: key.slice(0, 100),
  })
}
