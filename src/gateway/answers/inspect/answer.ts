import type { EgressHandler } from '../../egress/egress.ts'
import { answerKind } from './answer-head.ts'
import { type InspectedAnswer, type Inspection, isDedicated, statusOf } from './inspection.ts'
import { streamAnswer } from './stream-answer.ts'
import { copiedAnswer, wholeAnswer } from './whole-answer.ts'

/** The parts of an inspection that decide how an answer goes through the guardrails. */
type HoldRules = Pick<Inspection, 'plan' | 'hooks' | 'aimed'>

/** Returns whether an answer is held: for output guardrails, or to attach the results of input guardrails. */
export const holdsAnswer = ({ plan, hooks, aimed }: HoldRules): boolean =>
  plan.output.some((guardrail) => !guardrail.async) || (hooks.before_request_hooks.length > 0 && isDedicated(aimed.call))

/** Returns whether guardrails see the answer at all. */
export const inspectsAnswer = (held: HoldRules): boolean => held.plan.output.length > 0 || holdsAnswer(held)

/** The way of an answer through the guardrails to the caller: whole, as a stream, or past them where there is no text to read. */
export function inspectAnswer(inspection: Inspection): InspectedAnswer {
  const { relay, aimed, plan } = inspection
  let inner: EgressHandler | InspectedAnswer = relay
  return {
    get hooks() {
      return 'hooks' in inner ? inner.hooks : inspection.hooks
    },
    onInformation: (status) => relay.onInformation(status),
    onHeaders(status, rawHeaders, statusMessage) {
      relay.arrived()
      const head = { status, rawHeaders, statusMessage }
      const kind = answerKind(head, aimed.call.exchange.method)
      if (kind === 'stream') inner = streamAnswer(inspection, head)
      else if (!holdsAnswer(inspection)) inner = copiedAnswer(inspection, head, kind)
      else if (kind === 'json' || kind === 'text' || (kind === 'opaque' && plan.output.length > 0))
        inner = wholeAnswer(inspection, head, kind)
      else relay.onHeaders(statusOf(inspection, head, true), rawHeaders, statusMessage)
    },
    onData: (chunk) => inner.onData(chunk),
    onEnd: (rawTrailers) => inner.onEnd(rawTrailers),
    onError: (error) => inner.onError(error),
  }
}
