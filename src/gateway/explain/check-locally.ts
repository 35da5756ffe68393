import { checkDeps, type AttemptDeps } from '../attempts/try-target.ts'
import type { AimedCall } from '../call.ts'
import { checkBefore, type CheckedCall } from '../checks/before.ts'
import type { Guardrail } from '../checks/guardrail.ts'
import { noHooks } from '../checks/hook-results.ts'
import type { GuardrailPlan } from '../checks/plan.ts'
import { recheckModel } from '../targets/aim.ts'

/** A call after the local guardrails. */
export interface LocalCheckResult {
  readonly checked: CheckedCall
  /** The results of these guardrails. */
  readonly found: ReadonlyMap<Guardrail, { readonly verdict: boolean; readonly transformed: boolean }>
}

/** Runs the local guardrails before a call, for which the call waits. The others are not run. */
export async function checkLocally(aimed: AimedCall, guardrails: GuardrailPlan | null, deps: AttemptDeps): Promise<LocalCheckResult> {
  const local = (guardrails?.input ?? []).filter(isLocal)
  if (guardrails === null || local.length === 0) return { checked: unchanged(aimed), found: new Map() }
  const run = { ...checkDeps(aimed.call, deps), observe: () => {} }
  const checked = await checkBefore(aimed, { ...guardrails, input: local }, run)
  const { before_request_hooks: results } = checked.hooks
  return {
    checked: checked.changed && checked.denial === null ? { ...checked, aimed: recheckModel(checked.aimed) } : checked,
    found: new Map(local.flatMap((guardrail, at) => (results[at] === undefined ? [] : [[guardrail, results[at]] as const]))),
  }
}

const unchanged = (aimed: AimedCall): CheckedCall => ({ aimed, changed: false, headers: [], hooks: noHooks, denial: null })

const isLocal = ({ async: isAsync, checks }: Guardrail): boolean =>
  !isAsync && checks.every(({ definition }) => definition.timeoutMs === null)
