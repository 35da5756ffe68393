import type { Logger } from 'pino'
import type { PlacedVector, PlacedAnswer, Vectors } from '../../gateway/ports/cache.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { createSpareWork, type SpareWork } from '../database/spare-work.ts'
import type { Change } from '../snapshot/change-feed.ts'
import { keepInDatabase, nearestInDatabase, prepareVectors } from './near-database.ts'
import { createNearMemory, type NearMemory } from './near-memory.ts'

export interface OpenVectorsOptions {
  readonly side: SidePool
  readonly log: Logger
  /** Bytes of vectors in memory, of all organisations together, where the server has no pgvector. */
  readonly memoryBytes: number
  /** The number of dimensions in the database; null: it is not known, so that all vectors are in memory. */
  readonly dimensions: number | null
}

/**
 * Vectors in PostgreSQL where the server has pgvector, else in memory. The table of all organisations has the dimensions that the installation's
 * settings name: vectors of another length, which a provider of one workspace may make, stay in memory.
 */
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
/** Vectors on their way to the database. */
const mostWaiting = 200

interface State extends Pick<OpenVectorsOptions, 'log' | 'dimensions'> {
  /** Those of the cache of answers. */
  readonly connections: SideConnections
  readonly work: SpareWork
  readonly memory: NearMemory
  place: ReturnType<OpenVectors['place']>
  /** Resolves with true when vectors go to the database. */
  deciding: Promise<boolean> | null
  waiting: number
}

export function openVectors({ side, log, memoryBytes: most, dimensions }: OpenVectorsOptions): OpenVectors {
  const memory = createNearMemory({ most, mostOfOne: most * shareOfOne })
  const work = createSpareWork(log, 'the cache of answers cannot compare texts in the database')
  const state: State = {
    log,
    connections: side.of('answers'),
    work,
    memory,
    dimensions,
    place: dimensions === null ? 'memory' : 'undecided',
    deciding: null,
    waiting: 0,
  }
  return {
    nearest: (asked, threshold) =>
      isInMemory(state, asked) ? memory.nearest(asked, threshold) : work.resultOf(() => search(state, asked, threshold), []),
    put: (answer) => (isInMemory(state, answer) ? memory.put(answer) : keep(state, answer)),
    changed({ kind, entityId }) {
      if (kind === 'cache_purges') memory.forget(entityId)
    },
    clear: () => memory.clear(),
    place: () => state.place,
    memoryBytes: () => memory.bytes(),
  }
}

const isInMemory = ({ place, dimensions }: State, { vector }: PlacedVector): boolean => place === 'memory' || vector.length !== dimensions

async function search(state: State, asked: PlacedVector, threshold: number): Promise<readonly string[]> {
  if (await decide(state)) return nearestInDatabase(state.connections, asked, threshold)
  return state.memory.nearest(asked, threshold)
}

/** Asks the server once whether it can keep vectors. */
async function decide(state: State): Promise<boolean> {
  const { dimensions } = state
  if (state.place !== 'undecided' || dimensions === null) return state.place === 'pgvector'
  state.deciding ??= prepareVectors(state.connections, dimensions)
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
  if (state.work.paused() || state.waiting >= mostWaiting) return
  state.waiting += 1
  void keepNow(state, answer)
    .catch((error: unknown) => state.work.failed(error))
    .finally(() => (state.waiting -= 1))
}

async function keepNow(state: State, answer: PlacedAnswer): Promise<void> {
  if (await decide(state)) await keepInDatabase(state.connections, answer)
  else state.memory.put(answer)
}
