import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../lib/errors.ts'
import { createShares } from '../../../lib/shares/shares.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import type { RpcAnswer, RpcCall } from '../protocol/messages.ts'
import type { QuestionResults, Questions } from '../upstream/upstream-request.ts'
import type { CallNotes } from './call-notes.ts'

/** The next that happens to a call: its server asks, or it has its end. */
export type HeldStep = { readonly questions: Questions } | { readonly answer: RpcAnswer }

/** The means of a call to reach its client. */
export interface HeldMeans {
  readonly signal: AbortSignal
  readonly notify: (call: RpcCall) => void
  readonly ask: (questions: Questions) => Promise<QuestionResults>
}

/**
 * A call at a legacy server that outlives the request of its modern client: when the server asks, the client gets the question as the result of the
 * request, and its next request brings the answer.
 */
export interface HeldCall {
  readonly id: string
  /** Those of the request that began it. */
  readonly notes: CallNotes
  /** Resolves to the next step. Rejects when the call failed. */
  next(): Promise<HeldStep>
  /** Answers the questions of the last step. */
  answer(results: QuestionResults): void
  /** Sets the taker of the notifications. */
  hear(notify: (call: RpcCall) => void): void
  abort(): void
}

/** The calls that wait for their client. */
export interface HeldCalls {
  begin(work: (means: HeldMeans) => Promise<RpcAnswer>, notes: CallNotes): HeldCall
  /** Keeps a call until its client comes back. Throws, and ends it, when too many wait. */
  park(call: HeldCall, principal: string): void
  /** Takes a call back; null: it waits no longer. */
  take(id: string): HeldCall | null
  parked(): number
  stop(): void
}

export const heldBounds = { most: 100, mostOfOne: 10, waitMs: 5 * 60 * 1000 } as const

export function createHeldCalls(): HeldCalls {
  const parked = new Map<string, { readonly call: HeldCall; readonly principal: string; readonly timer: NodeJS.Timeout }>()
  const shares = createShares({ most: heldBounds.most, mostOfOne: heldBounds.mostOfOne })

  function take(id: string): HeldCall | null {
    const found = parked.get(id)
    if (found === undefined) return null
    parked.delete(id)
    clearTimeout(found.timer)
    shares.giveBack(found.principal)
    return found.call
  }

  return {
    begin: (work, notes) => new WaitingCall(work, notes),
    park(call, principal) {
      if (!shares.take(principal)) {
        call.abort()
        throw new ApiError('rate_limited', 'Too many calls wait for answers to the questions of their MCP servers.', { retryAfter: 5 })
      }
      const timer = setTimeout(() => take(call.id)?.abort(), heldBounds.waitMs).unref()
      parked.set(call.id, { call, principal, timer })
    },
    take,
    parked: () => parked.size,
    stop() {
      for (const id of parked.keys()) take(id)?.abort()
    },
  }
}

/** A question that waits, and the names under which its parts are asked. */
interface OpenQuestion {
  readonly names: Readonly<Record<string, string>>
  readonly questions: Questions
  readonly answered: (results: QuestionResults) => void
}

/** Questions that a server asks at once come one after the other: so long the first waits for the others. */
const gatherMs = 20

/** A class, because it keeps its open questions. */
class WaitingCall implements HeldCall {
  readonly id = uuidv7()
  readonly notes: CallNotes
  readonly #ending = new AbortController()
  readonly #end: Promise<RpcAnswer>
  readonly #waiting = new Set<OpenQuestion>()
  #count = 0
  #wake: (() => void) | null = null
  #notify: (call: RpcCall) => void = () => {}

  constructor(work: (means: HeldMeans) => Promise<RpcAnswer>, notes: CallNotes) {
    this.notes = notes
    this.#end = work({
      signal: this.#ending.signal,
      notify: (call) => this.#notify(call),
      ask: (questions) => this.#ask(questions),
    })
    // `next` gives its failure.
    this.#end.catch(() => {})
  }

  #ask(questions: Questions): Promise<QuestionResults> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#ending
      const leave = () => reject(new ApiError('client_closed', 'The client answered no more.'))
      signal.addEventListener('abort', leave, { once: true })
      const answered = (results: QuestionResults): void => {
        signal.removeEventListener('abort', leave)
        resolve(results)
      }
      const names = Object.fromEntries(Object.keys(questions).map((key) => [key, `question_${(this.#count += 1)}`]))
      this.#waiting.add({ names, questions, answered })
      this.#wake?.()
    })
  }

  async next(): Promise<HeldStep> {
    const asked = this.#waiting.size > 0 ? Promise.resolve() : new Promise<void>((resolve) => (this.#wake = resolve))
    const answer = await Promise.race([this.#end, asked.then(() => null)])
    this.#wake = null
    if (answer !== null) return { answer }
    await sleep(gatherMs)
    return { questions: this.#questions() }
  }

  #questions(): Questions {
    const all = [...this.#waiting].flatMap(({ names, questions }) =>
      Object.entries(questions).map(([key, question]) => [names[key] ?? key, question] as const),
    )
    return Object.fromEntries(all)
  }

  answer(results: QuestionResults): void {
    for (const waiting of this.#waiting) {
      const own = Object.entries(waiting.names).flatMap(([key, name]) => {
        const result = results[name]
        return result === undefined ? [] : [[key, result] as const]
      })
      // A question without an answer is asked again.
      if (own.length < Object.keys(waiting.names).length) continue
      this.#waiting.delete(waiting)
      waiting.answered(Object.fromEntries(own))
    }
  }

  hear(notify: (call: RpcCall) => void): void {
    this.#notify = notify
  }

  abort(): void {
    this.#ending.abort()
  }
}
