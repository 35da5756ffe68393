import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { CallHead } from '../call.ts'
import type { AnswerScope, AnswerStore, CachedAnswer } from './answer-store.ts'
import type { Embedder } from './embed.ts'
import type { HeardAnswer } from './recorder.ts'
import type { Vectors } from './vectors.ts'

/** The cache's part in an exchange. */
export type CacheStatus = 'HIT' | 'SEMANTIC HIT' | 'MISS' | 'SEMANTIC MISS' | 'REFRESH' | 'DISABLED'

/** A request whose answer may be kept. */
export interface Recallable {
  readonly key: string
  readonly scope: AnswerScope
  readonly requestId: string
  /** `performance.now()` when the request began. */
  readonly askedAt: number
  readonly maxAgeMs: number
  /** True: the provider is asked, even if an answer is kept. */
  readonly refresh: boolean
  /** Returns the similarity query; null: only the answer to an equal request will do. Called when there is none. */
  readonly alike: (() => SimilarityQuery | null) | null
}

/** A request for which the answer to a similar one will do. */
export interface SimilarityQuery {
  readonly text: string
  /** A hash of all that must be equal. */
  readonly partition: string
  /** The least cosine. */
  readonly threshold: number
  /** The one who asks, and pays for the comparison. */
  readonly asker: CallHead
}

/** How the answer to a request comes. */
export interface RecallResult {
  /** The key of the answer. */
  readonly key: string
  readonly status: Exclude<CacheStatus, 'DISABLED'>
  /** The answer that is given again; null: the provider is asked. */
  readonly answer: CachedAnswer | null
  /** Takes the provider's answer; null: it is not to be kept, and those who wait for it go on without it. */
  readonly heard: (answer: HeardAnswer | null) => void
  readonly maxBodyBytes: number
}

export interface AnswerCache {
  /**
   * Returns how the answer comes: at once when it is in memory, else when it is known. Equal requests of one process wait for the first of
   * them.
   */
  recall(request: Recallable): MaybePromise<RecallResult>
  /** Resolves with true if an answer is kept that an equal request would get. */
  holds(request: Recallable): Promise<boolean>
}

export interface AnswerCacheOptions {
  readonly store: AnswerStore
  /** Null: answers are given to equal requests only. */
  readonly near: SimilaritySearch | null
  readonly now: () => number
}

/** How similar requests are found. */
export interface SimilaritySearch {
  readonly embed: Embedder
  readonly vectors: Vectors
}

/** An answer with its key. */
interface FoundAnswer {
  readonly key: string
  readonly answer: CachedAnswer
}

/** A request on its way to the provider; null: its answer is not kept. */
interface PendingRecall {
  readonly askedAt: number
  readonly found: Promise<FoundAnswer | null>
}

interface State extends AnswerCacheOptions {
  readonly asked: Map<string, PendingRecall>
}

/** A cache over a store, with the requests whose answers are on their way. */
export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const state: State = { ...options, asked: new Map() }
  return {
    holds: async (request) => (await load(state, request.key, request)) !== null,
    recall(request) {
      const held = request.refresh ? null : state.store.get(request.key, request.scope)
      const answer = held instanceof Promise ? null : fresh(state, held, request)
      return answer === null ? look(state, request, held) : again(state.store, 'HIT', { key: request.key, answer })
    },
  }
}

/** Looks for an answer that is not in memory. */
async function look(state: State, request: Recallable, held: MaybePromise<CachedAnswer | null>): Promise<RecallResult> {
  const { store, near } = state
  const { key, refresh } = request
  const found = refresh ? null : await find(state, request, held)
  if (found !== null) return again(store, 'HIT', found)
  const told = lead(state, request)
  const compared = compare(request, near)
  const vector = refresh ? null : await compared
  const alike = vector === null || near === null ? null : await findAlike(state, request, { ...vector, near })
  if (alike !== null) {
    told(alike)
    return again(store, 'SEMANTIC HIT', alike)
  }
  const heard = (answer: HeardAnswer | null) => {
    const kept = answer === null ? null : keep(state, request, answer)
    told(kept)
    if (kept !== null) void place(state, { request, kept }, compared)
  }
  const status = refresh ? 'REFRESH' : vector === null ? 'MISS' : 'SEMANTIC MISS'
  return { key, status, answer: null, heard, maxBodyBytes: store.maxBodyBytes }
}

function fresh({ now }: State, answer: CachedAnswer | null, { maxAgeMs }: Recallable): CachedAnswer | null {
  return answer !== null && answer.createdAt + maxAgeMs > now() ? answer : null
}

async function load(state: State, key: string, request: Recallable): Promise<FoundAnswer | null> {
  const answer = fresh(state, await state.store.get(key, request.scope), request)
  return answer === null ? null : { key, answer }
}

async function find(state: State, request: Recallable, held: MaybePromise<CachedAnswer | null>): Promise<FoundAnswer | null> {
  const { key, scope } = request
  const answer = fresh(state, await held, request)
  const kept = answer === null ? null : { key, answer }
  const first = state.asked.get(key)
  if (kept !== null || first === undefined || state.store.purgedSince(scope, first.askedAt)) return kept
  const found = await first.found
  return fresh(state, found?.answer ?? null, request) === null ? null : found
}

/** Lets equal requests wait for this one, and returns the function that ends their wait. */
function lead({ asked }: State, { key, askedAt }: Recallable): (found: FoundAnswer | null) => void {
  if (asked.has(key)) return () => {}
  const { promise, resolve } = Promise.withResolvers<FoundAnswer | null>()
  asked.set(key, { askedAt, found: promise })
  return (found) => {
    asked.delete(key)
    resolve(found)
  }
}

/** Finds the answer to the nearest text that still has one. */
async function findAlike(
  state: State,
  request: Recallable,
  { alike, vector, near }: ComparedRequest & { near: SimilaritySearch },
): Promise<FoundAnswer | null> {
  const keys = await near.vectors.nearest({ scope: request.scope, partition: alike.partition, vector }, alike.threshold)
  for (const key of keys) {
    const found = await load(state, key, request)
    if (found !== null) return found
  }
  return null
}

function keep({ store, now }: State, { key, scope, requestId, askedAt, maxAgeMs }: Recallable, heard: HeardAnswer): FoundAnswer {
  const at = now()
  const answer = { ...heard, requestId, createdAt: at, expiresAt: at + maxAgeMs }
  store.put(key, scope, { answer, askedAt })
  return { key, answer }
}

interface KeptRecall {
  readonly request: Recallable
  readonly kept: FoundAnswer
}

/** Lets similar requests find an answer. */
async function place({ store, near }: State, { request, kept }: KeptRecall, compared: Promise<ComparedRequest | null>): Promise<void> {
  const found = await compared
  const { scope, askedAt } = request
  if (found === null || near === null || store.purgedSince(scope, askedAt)) return
  const { alike, vector } = found
  near.vectors.put({ key: kept.key, scope, partition: alike.partition, vector, askedAt, expiresAt: kept.answer.expiresAt })
}

const again = ({ maxBodyBytes }: AnswerStore, status: RecallResult['status'], { key, answer }: FoundAnswer): RecallResult => ({
  key,
  status,
  answer,
  heard: () => {},
  maxBodyBytes,
})

/** A request with the vector of its text. */
interface ComparedRequest {
  readonly alike: SimilarityQuery
  readonly vector: Float32Array
}

async function compare(request: Recallable, near: SimilaritySearch | null): Promise<ComparedRequest | null> {
  const alike = request.alike === null || near === null ? null : request.alike()
  if (alike === null || near === null) return null
  const vector = await near.embed(alike.asker, alike.text)
  return vector === null ? null : { alike, vector }
}
