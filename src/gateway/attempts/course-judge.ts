import type { ApiError } from '../../lib/errors.ts'
import type { RelayEnd } from '../answers/relay.ts'
import type { Call } from '../call.ts'
import type { TargetFields } from '../config/compile.ts'
import type { Breakers } from '../routing/breaker.ts'
import type { Move, Route } from '../routing/route.ts'
import type { RoutingState, BreakerEvent } from '../routing/state.ts'
import { leadsOn } from '../routing/verdict.ts'
import type { Attempt } from './attempt.ts'
import { type EndReport, reportOfError, reportOfStatus } from './report.ts'
import type { Judge } from './try-target.ts'

export type CourseMove = Move<TargetFields>

/** Returns the attempt of a step; null when there is none. */
export const moveOf = (step: IteratorResult<CourseMove, unknown>): CourseMove | null => (step.done === true ? null : step.value)

/** One attempt of a course, which is judged. */
export interface JudgedAttempt {
  /** The caller's call; a body that was opened for an earlier attempt is part of it. */
  readonly source: Call
  /** The slug of the config; null for one that the request brought. */
  readonly slug: string | null
  readonly move: CourseMove
  readonly way: Route<TargetFields>
  readonly deadlineAt: number
}

/** Judges one attempt, once: by its answer while no byte of it was passed on, or by its end. */
export class CourseJudge implements Judge {
  readonly last: boolean
  readonly deadlineAt: number
  readonly #making: JudgedAttempt
  readonly #attempt: Attempt
  readonly #breakers: Breakers
  readonly #tell: RoutingState['tell']
  readonly #probe: boolean
  #judged = false
  #next: CourseMove | null = null

  constructor(making: JudgedAttempt, attempt: Attempt, routing: RoutingState) {
    this.last = making.move.last
    this.deadlineAt = making.deadlineAt
    this.#making = making
    this.#attempt = attempt
    this.#breakers = routing.of(making.source.caller.key.organisationId).breakers
    this.#tell = routing.tell
    const { leaf } = making.move
    this.#probe = leaf.breaker !== null && this.#breakers.begin(leaf.id, Date.now())
  }

  stands(report: EndReport): boolean {
    if (this.#judged) return this.#next === null
    this.#judged = true
    const { move, way } = this.#making
    this.#noteBreaker(report)
    this.#next = moveOf(way.next(report))
    const { retry } = move.leaf
    if (retry !== null && move.repetition === retry.attempts && leadsOn(retry.after, report)) this.#attempt.retries = -1
    if (this.#next !== null) this.#noteFault(report)
    return this.#next === null
  }

  /** Returns the attempt that follows the end of this one. */
  conclude(ended: RelayEnd | ApiError): CourseMove | null {
    this.stands(this.#reportOf(ended))
    return this.#next
  }

  #reportOf(ended: RelayEnd | ApiError): EndReport {
    const { source } = this.#making
    const attempt = this.#attempt
    if (!('kind' in ended)) return reportOfError(source, attempt, { error: ended, late: false })
    if (ended.kind === 'failed') return reportOfError(source, attempt, { error: ended.error, late: attempt.late })
    if (ended.kind === 'denied') return { ...reportOfStatus(source, attempt, ended.error.status), message: ended.error.message }
    return { ...reportOfStatus(source, attempt, ended.result.status), final: ended.result.outcome === 'client_closed' }
  }

  #noteBreaker({ status, final }: EndReport): void {
    const { id, breaker } = this.#making.move.leaf
    if (breaker === null) return
    if (final) return this.#probe ? this.#breakers.abandon(id) : undefined
    const failed = breaker.statuses === null ? status >= 500 : breaker.statuses.has(status)
    const change = this.#breakers.end(id, breaker, { failed, probe: this.#probe, now: Date.now() })
    if (change !== null) this.#tell({ change, about: this.#about() })
  }

  #about(): BreakerEvent['about'] {
    const { slug, source, move } = this.#making
    const { organisationId, workspaceId } = source.caller.key
    const { target } = this.#attempt
    const provider = target === null ? null : (target.view?.slug ?? target.providerId)
    return { organisationId, workspaceId, config: slug, option: move.leaf.option, provider }
  }

  #noteFault({ status, failure, message, bytes }: EndReport): void {
    this.#attempt.fault = { status, failure, message, bytes, endedAt: performance.now() }
  }
}
