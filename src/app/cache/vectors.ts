import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { PlacedVector, PlacedAnswer, Vectors } from '../../gateway/cache/vectors.ts'
import type { Change } from '../snapshot/change-feed.ts'
import { keepInDatabase, nearestInDatabase, prepareVectors } from './near-database.ts'
import { createNearMemory, type NearMemory } from './near-memory.ts'

export interface OpenVectorsOptions {
  /** The connections of the cache of answers. */
  readonly pool: () => Pool
  readonly log: Logger
  /** Bytes of vectors in memory, of all organisations together, where the server has no pgvector. */
  readonly memoryBytes: number
}

/** Vectors in PostgreSQL where the server has pgvector, else in memory. */
export interface OpenVectors extends Vectors {
  /** Drops the vectors that a purge in any process made stale. */
  changed(change: Change): void
  /** Forgets all: purges may have been missed. */
  clear(): void
  /** Returns the place of vectors; `undecided` before the first. */
  place(): 'undecided' | 'memory' | 'pgvector'
  memoryBytes(): number
}

/** One organisation may not push all others out. */
const shareOfOne = 0.5
/** The longest wait for the database: an embedding took longer. */
const patienceMs = 250
/** After a failure the database is left alone for so long. */
const pauseMs = 2000
/** Vectors on their way to the database. */
const mostWaiting = 200

interface State extends OpenVectorsOptions {
  readonly memory: NearMemory
  place: ReturnType<OpenVectors['place']>
  /** Resolves with true when vectors go to the database. */
  deciding: Promise<boolean> | null
  pausedUntil: number
  waiting: number
}

export function openVectors(options: OpenVectorsOptions): OpenVectors {
  const { memoryBytes: most } = options
  const memory = createNearMemory({ most, mostOfOne: most * shareOfOne })
  const state: State = { ...options, memory, place: 'undecided', deciding: null, pausedUntil: -Infinity, waiting: 0 }
  return {
    nearest: (asked, threshold) => (state.place === 'memory' ? memory.nearest(asked, threshold) : search(state, asked, threshold)),
    put: (answer) => (state.place === 'memory' ? memory.put(answer) : keep(state, answer)),
    changed({ kind, entityId }) {
      if (kind === 'cache_purges') memory.forget(entityId)
    },
    clear: () => memory.clear(),
    place: () => state.place,
    memoryBytes: () => memory.bytes(),
  }
}

async function search(state: State, asked: PlacedVector, threshold: number): Promise<readonly string[]> {
  if (performance.now() < state.pausedUntil) return []
  const { promise: late, resolve } = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(resolve, patienceMs, [])
  const found = searchNow(state, asked, threshold).catch((error: unknown) => failed(state, error))
  return Promise.race([found, late]).finally(() => clearTimeout(timer))
}

async function searchNow(state: State, asked: PlacedVector, threshold: number): Promise<readonly string[]> {
  if (await decide(state, asked.vector.length)) return nearestInDatabase(state.pool(), asked, threshold)
  return state.memory.nearest(asked, threshold)
}

function failed(state: State, error: unknown): readonly string[] {
  if (performance.now() >= state.pausedUntil) state.log.debug({ err: error }, 'the cache of answers cannot compare texts in the database')
  state.pausedUntil = performance.now() + pauseMs
  return []
}

/** Asks the server once whether it can keep vectors. */
async function decide(state: State, dimensions: number): Promise<boolean> {
  if (state.place !== 'undecided') return state.place === 'pgvector'
  state.deciding ??= prepareVectors(state.pool(), dimensions)
    .then((support) => {
      state.place = support === 'ready' ? 'pgvector' : 'memory'
      state.log.info(
        { support },
        state.place === 'memory' ? 'texts are compared in memory: the server cannot' : 'texts are compared by pgvector',
      )
      return support === 'ready'
    })
    .finally(() => (state.deciding = null))
  return state.deciding
}

function keep(state: State, answer: PlacedAnswer): void {
  if (performance.now() < state.pausedUntil || state.waiting >= mostWaiting) return
  state.waiting += 1
  void keepNow(state, answer)
    .catch((error: unknown) => failed(state, error))
    .finally(() => (state.waiting -= 1))
}

async function keepNow(state: State, answer: PlacedAnswer): Promise<void> {
  if (await decide(state, answer.vector.length)) await keepInDatabase(state.pool(), answer)
  else state.memory.put(answer)
}
