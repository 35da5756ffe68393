import { answeredWork } from '../answers/answer-fault.ts'
import type { Relay } from '../answers/relay.ts'
import type { Call } from '../call.ts'
import type { EgressHandler } from '../egress/egress.ts'
import type { GatewaySettings } from '../settings.ts'
import type { Attempt } from './attempt.ts'
import { Gate } from './gate.ts'
import { type EndReport, reportOfAnswer } from './report.ts'

/** An attempt that may be given up before its answer begins. */
interface GatedAttempt {
  readonly call: Call
  readonly attempt: Attempt
  /** Null: it is the only attempt. */
  readonly judge: { stands(report: EndReport): boolean; readonly last: boolean } | null
}

/**
 * Returns the longest wait for the first content of a stream until its head goes on; null: any. Where a config sets the wait and the next step, the
 * config decides.
 */
export function opensAfter({ call, judge }: GatedAttempt, settings: GatewaySettings): number | null {
  const isTimed = judge !== null && !judge.last && (call.config?.firstTokenTimeoutMs ?? null) !== null
  return isTimed || settings.streamOpensAfterMs === 0 ? null : settings.streamOpensAfterMs
}

interface GateEnds {
  readonly relay: Relay
  readonly inner: EgressHandler
}

/** Returns the gate that holds an answer back until its attempt stands; null when no attempt can follow it, and it cannot be too late. */
export function gateOf({ call, attempt, judge }: GatedAttempt, ends: GateEnds, opensAfterMs: number | null): Gate | null {
  if (judge === null) return null
  const firstTokenMs = call.config?.firstTokenTimeoutMs ?? null
  if (judge.last && firstTokenMs === null) return null
  return new Gate({
    ...ends,
    firstTokenMs,
    opensAfterMs,
    work: answeredWork(call),
    holdsErrors: !judge.last,
    stands: (report) => judge.stands(report),
    report: (answer) => reportOfAnswer(call, attempt, answer),
  })
}

/** Clears the timers of an attempt whose answer has ended, and notes their effects. */
export function closeWaits(attempt: Attempt, gate: Gate | null): void {
  const openedMs = attempt.translated?.close() ?? null
  attempt.late = gate?.close() === true
  attempt.openedMs = gate === null ? openedMs : gate.openedMs
}
