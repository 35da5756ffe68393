import type { EgressHandler } from '../../egress/egress.ts'
import type { Progress } from '../../progress.ts'
import { answerKind } from './answer-head.ts'
import { type Inspection, isDedicated, statusOf } from './inspection.ts'
import { streamAnswer } from './stream-answer.ts'
import { copiedAnswer, wholeAnswer } from './whole-answer.ts'

/** Whether an answer is held until guardrails have seen it, or tells what they found before the call. */
export const holdsAnswer = (progress: Progress): boolean =>
  progress.guardrails !== null &&
  (progress.guardrails.output.some((guardrail) => !guardrail.async) ||
    (progress.hooks.before_request_hooks.length > 0 && isDedicated(progress)))

/** Whether guardrails see the answer at all. */
export const inspectsAnswer = (progress: Progress): boolean =>
  progress.guardrails !== null && (progress.guardrails.output.length > 0 || holdsAnswer(progress))

/** The way of an answer through the guardrails to the caller: whole, as a stream, or past them where there is nothing to read. */
export function inspectAnswer(inspection: Inspection): EgressHandler {
  const { relay, progress, plan } = inspection
  let inner: EgressHandler = relay
  return {
    onInformation: (status, rawHeaders) => relay.onInformation(status, rawHeaders),
    onHeaders(status, rawHeaders, statusMessage) {
      relay.arrived()
      const head = { status, rawHeaders, statusMessage }
      const kind = answerKind(head, progress.exchange.req.method ?? 'GET')
      if (kind === 'stream') inner = streamAnswer(inspection, head)
      else if (!holdsAnswer(progress)) inner = copiedAnswer(inspection, head, kind)
      else if (kind === 'json' || kind === 'text' || (kind === 'opaque' && plan.output.length > 0))
        inner = wholeAnswer(inspection, head, kind)
      else relay.onHeaders(statusOf(inspection, head, true), rawHeaders, statusMessage)
    },
    onData: (chunk) => inner.onData(chunk),
    onEnd: (rawTrailers) => inner.onEnd(rawTrailers),
    onError: (error) => inner.onError(error),
  }
}
