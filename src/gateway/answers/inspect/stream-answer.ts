import { toApiError } from '../../../lib/errors.ts'
import { denial } from '../../checks/denial.ts'
import type { HookResults } from '../../checks/hook-results.ts'
import { FrameCutter } from '../../wire/sse.ts'
import { type InspectedAnswer, type Inspection, isDedicated, runAfter, statusOf } from './inspection.ts'
import { type AnswerHead, headersFor } from './answer-head.ts'
import type { BodyEdit } from '../../checks/check.ts'
import type { Guardrail } from '../../checks/guardrail.ts'
import { checksOf, type CheckedBody, runGuardrails } from '../../checks/run.ts'
import { requestFacts } from '../../checks/facts.ts'
import { StreamWindow } from './stream-window.ts'

/**
 * How a stream is held. `free`: it cannot be stopped, only its end waits for the results of the guardrails. `prefix`: its text is judged as it comes,
 * and goes on as soon as no later text can change the verdict on it. `whole`: some check needs all of it.
 */
type HoldMode = 'free' | 'prefix' | 'whole'

/** A failure that began so many characters before it showed is still held back, unless a check states the reach of its own. */
const reachesBack = 256
/** A text is judged again when it has grown by a sixteenth, so that the work stays in proportion to its length. */
const step = (total: number, remote: boolean): number => Math.max(total / 16, remote ? 800 : 64)
const patienceMs = { local: 150, remote: 1500 }
/** The wait for growth is so many times as long as the last judgement took, so that a long text that grows slowly does not fill the processor. */
const restPerJudgement = 8

/** Lets a stream through as far as the guardrails allow. */
export function streamAnswer(inspection: Inspection, head: AnswerHead): InspectedAnswer {
  return new StreamAnswer(inspection, head)
}

/** A class, because it is one handler object per stream with much state. */
class StreamAnswer implements InspectedAnswer {
  hooks: HookResults
  readonly #inspection: Inspection
  readonly #head: AnswerHead
  readonly #window: StreamWindow
  readonly #cutter = new FrameCutter()
  readonly #denying: readonly Guardrail[]
  readonly #remote: boolean
  readonly #reachesBack: number
  #holding: HoldMode
  #begun = false
  #judging = false
  #judgedAt = 0
  #judgedForMs = 0
  #timer: NodeJS.Timeout | null = null
  #paused = false
  #ended: readonly string[] | null = null
  #finishing = false
  /** True when the guardrails have given their final verdict before the end. */
  #concluded = false

  constructor(inspection: Inspection, head: AnswerHead) {
    this.hooks = inspection.hooks
    this.#inspection = inspection
    this.#head = head
    this.#window = new StreamWindow(inspection.aimed.call.operation.spec?.dialect ?? null)
    const awaited = inspection.plan.output.filter((guardrail) => !guardrail.async)
    this.#denying = awaited.filter(({ deny }) => deny)
    const checks = this.#denying.flatMap((guardrail) => checksOf(guardrail, 'output'))
    this.#holding = holdingOf(awaited)
    this.#remote = checks.some(({ definition }) => definition.timeoutMs !== null)
    this.#reachesBack = Math.max(0, ...checks.map(({ ready }) => ready.reachesBack ?? reachesBack))
    if (this.#holding === 'free') this.#begin(true)
  }

  onHeaders(): void {}

  onData(chunk: Buffer): void {
    const whole = this.#cutter.push(chunk)
    if (whole === null) return
    this.#window.add(whole)
    if (this.#holding === 'free') return this.#release(this.#window.takeBeforeEnd() ?? this.#tooMuchBehindEnd())
    if (this.#window.heldBytes > this.#inspection.maxHeldBytes) return this.#overflow()
    if (this.#holding === 'prefix') this.#considerJudging()
  }

  onEnd(rawTrailers: readonly string[]): void {
    const rest = this.#cutter.rest()
    if (rest !== null) this.#window.add(rest)
    this.#ended = rawTrailers
    if (!this.#judging) this.#finish()
  }

  onError(error: Error): void {
    this.#stopWaiting()
    this.#inspection.relay.onError(error)
  }

  /** The head waits for the first frame that may go, so that a denial can still be a status. */
  #begin(passed: boolean): void {
    if (this.#begun) return
    this.#begun = true
    const { relay, plan, aimed } = this.#inspection
    const { rawHeaders, statusMessage } = this.#head
    relay.onHeaders(statusOf(this.#inspection, this.#head, passed), headersFor(rawHeaders, null), statusMessage)
    const { before_request_hooks: before } = this.hooks
    if (!plan.strict && before.length > 0 && isDedicated(aimed.call)) relay.onData(resultsFrame({ before_request_hooks: before }))
  }

  #release(bytes: Buffer | null, passed = true): void {
    if (bytes === null || bytes.length === 0 || !this.#inspection.relay.open) return
    this.#begin(passed)
    this.#inspection.relay.onData(bytes)
  }

  /** A provider may send without end behind the frame that ends its stream. */
  #tooMuchBehindEnd(): Buffer | null {
    return this.#window.heldBytes > this.#inspection.maxHeldBytes ? this.#window.rest() : null
  }

  #considerJudging(): void {
    if (this.#judging || this.#ended !== null) return
    const grown = this.#window.total - this.#judgedAt
    if (grown >= step(this.#window.total, this.#remote)) void this.#judge()
    else if (grown > 0) this.#timer ??= setTimeout(() => void this.#judge(), this.#patience())
    else {
      this.#release(this.#window.take(this.#window.moment(), this.#reachesBack))
      if (this.#window.heldBytes > this.#inspection.maxHeldBytes) this.#giveUp()
    }
  }

  #patience(): number {
    return this.#remote ? patienceMs.remote : Math.max(patienceMs.local, this.#judgedForMs * restPerJudgement)
  }

  /** Judges the text so far, and releases the part that no later text can spoil. */
  async #judge(): Promise<void> {
    this.#stopWaiting()
    if (this.#judging || this.#ended !== null) return
    this.#judging = true
    const { aimed, deps, relay } = this.#inspection
    const [upTo, moment, began] = [this.#window.total, this.#window.moment(), performance.now()]
    try {
      const { deniedBy, results } = await runGuardrails(this.#denying, {
        phase: 'output',
        body: this.#window.said(),
        apply: (body) => body,
        refuses: (edit) => this.#window.refuses(edit),
        unfinished: true,
        request: requestFacts(aimed),
        status: this.#head.status,
        deps: { ...deps, observe() {} },
      })
      this.#judging = false
      this.#judgedForMs = performance.now() - began
      if (!relay.open) return
      if (deniedBy !== null) return this.#deny(deniedBy, results)
      this.#judgedAt = upTo
      this.#release(this.#window.take(moment, this.#reachesBack))
      this.#goOn()
    } catch (error) {
      relay.cut(toApiError(error))
    }
  }

  #goOn(): void {
    if (this.#paused && this.#window.heldBytes <= this.#inspection.maxHeldBytes) {
      this.#paused = false
      this.#inspection.relay.resumeProvider()
    }
    if (this.#ended !== null) this.#finish()
    else this.#considerJudging()
  }

  #deny(guardrail: Guardrail, results: HookResults['after_request_hooks']): void {
    this.#stopWaiting()
    const { relay } = this.#inspection
    this.hooks = { ...this.hooks, after_request_hooks: results }
    const error = denial(guardrail, this.hooks)
    if (this.#begun) return relay.cut(error, 'error')
    relay.replaceHead(this.#head.status, headersFor(this.#head.rawHeaders, null), this.#head.statusMessage)
    relay.deny(error, this.#window.rest())
  }

  /** More is held than may be: while it is being judged the provider waits; a check that needs all of it cannot. */
  #overflow(): void {
    if (this.#holding === 'whole') return this.#giveUp()
    if (!this.#paused) this.#inspection.relay.pauseProvider()
    this.#paused = true
    return this.#considerJudging()
  }

  /** So much cannot be held: each check decides whether unjudged text may go. */
  #giveUp(): void {
    if (this.#judging) return
    const reason = `The answer is larger than the ${this.#inspection.maxHeldBytes} bytes that are held.`
    this.#inspection.relay.pauseProvider()
    this.#judging = true
    void this.#conclude({ ...this.#window.said(), unreadable: reason }, () => {
      this.#holding = 'free'
      this.#concluded = true
      this.#judging = false
      this.#paused = false
      this.#release(this.#window.takeBeforeEnd())
      this.#inspection.relay.resumeProvider()
      if (this.#ended !== null) this.#finish()
    })
  }

  /** The text is complete: the guardrails judge it once more as a whole, unless they had to before. */
  #finish(): void {
    if (this.#finishing) return
    this.#finishing = true
    this.#stopWaiting()
    if (this.#concluded) return this.#tellAndEnd(true)
    void this.#conclude(this.#window.said(), (edits, passed) => {
      if (edits.length > 0) this.#window.rewrite(edits)
      this.#tellAndEnd(passed)
    })
  }

  /** The last frames, and before the very last one the results of the guardrails. */
  #tellAndEnd(passed: boolean): void {
    const { plan, aimed, relay } = this.#inspection
    if (!passed && !this.#begun) {
      this.#begin(passed)
      // Another target is tried in its place: the withheld answer still holds its usage.
      if (!relay.open) return relay.onData(this.#window.rest())
    }
    this.#release(this.#window.takeBeforeEnd(), passed)
    const { after_request_hooks: after } = this.hooks
    if (!plan.strict && after.length > 0 && isDedicated(aimed.call)) this.#release(resultsFrame({ after_request_hooks: after }), passed)
    this.#release(this.#window.rest(), passed)
    this.#begin(passed)
    relay.onEnd(this.#ended ?? [])
  }

  async #conclude(body: CheckedBody, release: (edits: readonly BodyEdit[], passed: boolean) => void): Promise<void> {
    const { relay } = this.#inspection
    const made: BodyEdit[] = []
    const apply = (before: CheckedBody, edits: readonly BodyEdit[]): CheckedBody => {
      made.push(...edits)
      return { ...before, parts: before.parts.map(({ path, role, text }) => ({ path, role, text: newText(edits, path) ?? text })) }
    }
    try {
      const refuses = (edit: BodyEdit) => this.#window.refuses(edit)
      const { deniedBy, results, failed } = await runAfter(this.#inspection, body, { status: this.#head.status, apply, refuses })
      this.hooks = { ...this.hooks, after_request_hooks: results }
      if (!relay.open) return
      if (deniedBy === null) release(made, !failed)
      else this.#deny(deniedBy, results)
    } catch (error) {
      relay.cut(toApiError(error))
    }
  }

  #stopWaiting(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

const newText = (edits: readonly BodyEdit[], path: BodyEdit['path']): string | undefined => {
  const value = edits.findLast((edit) => edit.path[0] === path[0])?.value
  return typeof value === 'string' ? value : undefined
}

function holdingOf(awaited: readonly Guardrail[]): HoldMode {
  const changing = awaited.some((guardrail) =>
    checksOf(guardrail, 'output').some(({ definition, changes }) => changes && definition.reads === 'text'),
  )
  const denying = awaited.filter(({ deny }) => deny)
  if (changing) return 'whole'
  if (denying.length === 0) return 'free'
  return denying.every((guardrail) => checksOf(guardrail, 'output').every(({ ready }) => ready.judgesPrefix)) ? 'prefix' : 'whole'
}

const resultsFrame = (hookResults: object): Buffer => Buffer.from(`data: ${JSON.stringify({ hook_results: hookResults })}\n\n`)
