import type { AnswerScope, AnswerStore, CachedAnswer } from '../../gateway/ports/cache.ts'
import { createWeighed } from '../../lib/collections/weighed.ts'
import type { Change } from '../snapshot/change-feed.ts'
import type { StoredAnswers } from './stored-answers.ts'

export interface AnswersOptions {
  readonly stored: StoredAnswers
  /** Bytes of answers in memory, of all organisations together. */
  readonly memoryBytes: number
  readonly maxBodyBytes: number
}

/** Memory in front of the database. */
export interface Answers extends AnswerStore {
  /** Drops the answers that a purge in any process made stale. */
  changed(change: Change): void
  /** Forgets all: purges may have been missed. */
  clear(): void
  /** Returns the bytes of answers in memory. */
  memoryBytes(): number
}

/** One organisation may not push all others out. */
const shareOfOne = 0.5
/** An answer takes about so many bytes beside its body. */
const overhead = 1024

export function createAnswers({ stored, memoryBytes, maxBodyBytes }: AnswersOptions): Answers {
  const bounds = { most: memoryBytes, mostOfOne: memoryBytes * shareOfOne }
  let memory = createWeighed<CachedAnswer>(bounds)
  /** Counts the purges: an answer that was read before one may be stale. */
  let epoch = 0

  /** The latest purge of each organisation, as `performance.now()`. */
  const purges = new Map<string, number>()
  const purgedSince = ({ organisationId }: AnswerScope, at: number) => (purges.get(organisationId) ?? -Infinity) >= at

  function hold(key: string, { organisationId }: AnswerScope, answer: CachedAnswer): void {
    memory.set(organisationId, key, { value: answer, weight: answer.body.length + overhead })
  }

  async function load(key: string, scope: AnswerScope): Promise<CachedAnswer | null> {
    const before = epoch
    const answer = await stored.get(key, scope)
    if (answer !== null && before === epoch) hold(key, scope, answer)
    return answer
  }

  return {
    maxBodyBytes,
    get(key, scope) {
      const held = memory.get(scope.organisationId, key)
      return held !== undefined && held.expiresAt > Date.now() ? held : load(key, scope)
    },
    purgedSince,
    put(key, scope, kept) {
      if (purgedSince(scope, kept.askedAt)) return
      hold(key, scope, kept.answer)
      stored.put(key, scope, kept)
    },
    changed({ kind, entityId }) {
      if (kind !== 'cache_purges') return
      epoch += 1
      purges.set(entityId, performance.now())
      memory.forget(entityId)
    },
    clear() {
      epoch += 1
      memory = createWeighed(bounds)
    },
    memoryBytes: () => memory.weight(),
  }
}
