import type { AimedCall, Call } from '../../call.ts'
import type { HookResults } from '../../checks/hook-results.ts'
import type { EgressHandler } from '../../egress/egress.ts'
import type { Relay } from '../relay.ts'
import type { AnswerHead } from './answer-head.ts'
import type { BodyEdit } from '../../checks/check.ts'
import { requestFacts } from '../../checks/facts.ts'
import type { GuardrailPlan } from '../../checks/plan.ts'
import { type CheckedBody, type Outcome, type RunDeps, runGuardrails } from '../../checks/run.ts'

/** The inspection of an answer: all that it works with. */
export interface Inspection {
  readonly aimed: AimedCall
  /** The results of guardrails before the call. */
  readonly hooks: HookResults
  readonly plan: GuardrailPlan
  readonly relay: Relay
  readonly deps: RunDeps
  /** So much of an answer is held at most. */
  readonly maxHeldBytes: number
}

/** The status of an answer that is passed on: 246 when a guardrail that does not deny has failed. The pass-through keeps its own. */
export function statusOf({ aimed, hooks }: Inspection, { status }: AnswerHead, passed: boolean): number {
  const failed = !passed || hooks.before_request_hooks.some(({ verdict }) => !verdict)
  return failed && isDedicated(aimed.call) && status < 300 ? 246 : status
}

/** Returns whether an answer may contain results of guardrails: one of a pass-through is the provider's, byte for byte. */
export const isDedicated = ({ operation, exchange }: Pick<Call, 'operation' | 'exchange'>): boolean =>
  operation.name !== 'proxy' && exchange.method === 'POST'

export interface AfterOptions<Body> {
  readonly status: number
  readonly apply: (body: Body, edits: readonly BodyEdit[]) => Body
  readonly refuses?: (edit: BodyEdit) => string | null
}

/** Handles an answer for guardrails, and holds their findings so far. */
export interface InspectedAnswer extends EgressHandler {
  readonly hooks: HookResults
}

/** Runs the guardrails on the texts of an answer. */
export function runAfter<Body extends CheckedBody>(
  { aimed, plan, deps }: Inspection,
  body: Body,
  options: AfterOptions<Body>,
): Promise<Outcome<Body>> {
  return runGuardrails(plan.output, { ...options, phase: 'output', body, request: requestFacts(aimed), deps })
}
