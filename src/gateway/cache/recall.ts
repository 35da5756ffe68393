import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import type { AnswerScope, AnswerStore, CachedAnswer } from './answer-store.ts'
import { type HeardAnswer, Recorder } from './recorder.ts'

/** The cache's part in an exchange. */
export type CacheStatus = 'HIT' | 'MISS' | 'REFRESH' | 'DISABLED'

/** A request whose answer may be kept. */
export interface Recallable {
  readonly key: string
  readonly scope: AnswerScope
  readonly requestId: string
  /** `performance.now()` when the request began. */
  readonly askedAt: number
  readonly maxAgeMs: number
  /** True: the provider is asked, whatever is kept. */
  readonly refresh: boolean
}

/** How the answer to a request comes. */
export interface Recalled {
  readonly key: string
  readonly status: Exclude<CacheStatus, 'DISABLED'>
  /** The answer that is given again; null: the provider is asked. */
  readonly answer: CachedAnswer | null
  /** Takes the provider's answer; null: it is not to be kept, and those who wait for it go on without it. */
  readonly heard: (answer: HeardAnswer | null) => void
  readonly maxBodyBytes: number
}

export interface AnswerCache {
  /** Resolves when it is known how the answer comes: equal requests of one process wait for the first of them. */
  recall(request: Recallable): Promise<Recalled>
  /** Resolves with true if an answer is kept that the request would get. */
  holds(request: Recallable): Promise<boolean>
}

/** A request on its way to the provider; null: its answer is not kept. */
interface Asked {
  readonly askedAt: number
  readonly answer: Promise<CachedAnswer | null>
}

/** A cache over a store, with the requests whose answers are on their way. */
export function createAnswerCache(store: AnswerStore, now: () => number): AnswerCache {
  const asked = new Map<string, Asked>()

  const fresh = (answer: CachedAnswer | null, { maxAgeMs }: Recallable) =>
    answer !== null && answer.createdAt + maxAgeMs > now() ? answer : null

  async function find(request: Recallable): Promise<CachedAnswer | null> {
    const { key, scope } = request
    const kept = fresh(await store.get(key, scope), request)
    const first = asked.get(key)
    if (kept !== null || first === undefined || store.purgedSince(scope, first.askedAt)) return kept
    return fresh(await first.answer, request)
  }

  /** Lets equal requests wait for this one, and gives what ends their wait. */
  function lead({ key, askedAt }: Recallable): (answer: CachedAnswer | null) => void {
    if (asked.has(key)) return () => {}
    const { promise, resolve } = Promise.withResolvers<CachedAnswer | null>()
    asked.set(key, { askedAt, answer: promise })
    return (answer) => {
      asked.delete(key)
      resolve(answer)
    }
  }

  return {
    holds: async (request) => fresh(await store.get(request.key, request.scope), request) !== null,
    async recall(request) {
      const { key, refresh } = request
      const { maxBodyBytes } = store
      const found = refresh ? null : await find(request)
      if (found !== null) return { key, status: 'HIT', answer: found, heard: () => {}, maxBodyBytes }
      const told = lead(request)
      const heard = (answer: HeardAnswer | null) => told(answer === null ? null : keep(store, request, { answer, at: now() }))
      return { key, status: refresh ? 'REFRESH' : 'MISS', answer: null, heard, maxBodyBytes }
    },
  }
}

function keep(store: AnswerStore, request: Recallable, { answer, at }: { answer: HeardAnswer; at: number }): CachedAnswer {
  const { key, scope, requestId, askedAt, maxAgeMs } = request
  const kept = { ...answer, requestId, createdAt: at, expiresAt: at + maxAgeMs }
  store.put(key, scope, { answer: kept, askedAt })
  return kept
}

/** Sends a request, and listens to its answer; the answer to a call that is stopped is not kept. */
export function listen(recalled: Recalled, send: (handler: EgressHandler) => EgressCall, handler: EgressHandler): EgressCall {
  const recorder = new Recorder(handler, recalled)
  const call = send(recorder)
  return {
    pause: () => call.pause(),
    resume: () => call.resume(),
    abort() {
      call.abort()
      recorder.stop()
    },
  }
}
