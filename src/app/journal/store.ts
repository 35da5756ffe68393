import { DatabaseError } from 'pg'
import type { StoredFrame, ReadFrame } from '../../gateway/ports/journal.ts'
import { deleteCursor, insertBatch, readCursor } from './insert.ts'
import { createRowEncoder, UnreadableRowError } from './rows.ts'
import { createWordReader } from './log-words.ts'
import type { Session } from './session.ts'

/** A segment, by the key of its cursor. */
export interface SegmentKey {
  readonly node: string
  readonly segment: string
}

export interface StoreOptions {
  readonly session: Session
  /** True if a log store shall get the bodies. */
  readonly queuesBodies?: boolean
  /** The log key, under which hashes of the words of logs are kept; null: they are not. */
  readonly wordsUnder?: Uint8Array | null
  /** The frames are valid until the call returns. */
  readonly shipped: (batch: { readonly frames: readonly ReadFrame[]; readonly own: boolean }) => void
  readonly rejected: (frame: StoredFrame, reason: string) => void
}

/** The database side of shipping: batches, cursors, and the search for the record that spoils a batch. */
export interface Store {
  position(key: SegmentKey): Promise<number>
  ship(key: SegmentKey & { readonly own: boolean }, frames: readonly ReadFrame[]): Promise<void>
  /** How many records the next batch should have; fewer after a failure, which may have been a time limit. */
  batchSize(): number
  /** The segment no longer exists. */
  forget(key: SegmentKey): Promise<void>
  reset(): void
}

const largestBatch = 500
/** Classes of SQLSTATE that are the data's fault: wrong values, broken constraints, too much for a page or an index. */
const dataFault = /^(?:22|23|54)/

/** Builds the store on a session. */
export function createStore({ session, queuesBodies = false, wordsUnder = null, shipped, rejected }: StoreOptions): Store {
  const encode = createRowEncoder(wordsUnder === null ? null : createWordReader(wordsUnder))
  const beginWords = wordsUnder === null ? null : createWordsBeginning(session)
  const cursors = createCursors(session)
  const partitions = createPartitions(session)
  let batchSize = largestBatch

  const commit = async ({ node, segment }: SegmentKey, frames: readonly ReadFrame[], to: number) => {
    const from = await cursors.position({ node, segment })
    const rows = encode(frames.map(({ frame }) => frame))
    await partitions.ensure(rows.days)
    await beginWords?.()
    await insertBatch(await session.client(), { node, segment, from, to, rows, queuesBodies })
    cursors.moved(segment, to)
    batchSize = Math.min(batchSize * 2, largestBatch)
  }

  const reject = async (key: SegmentKey, { frame, end }: ReadFrame, error: Error) => {
    await commit(key, [], end)
    rejected(frame, error.message)
  }

  /** Halves a batch that the database refuses until the record at fault is alone; `retried`: its partitions are surely there. */
  const ship = async (key: SegmentKey & { own: boolean }, frames: readonly ReadFrame[], retried: boolean): Promise<void> => {
    const last = frames.at(-1)
    if (last === undefined) return
    try {
      await commit(key, frames, last.end)
      shipped({ frames, own: key.own })
    } catch (error) {
      if (!isDataFault(error)) throw error
      partitions.reset()
      const half = Math.floor(frames.length / 2)
      if (!retried) await ship(key, frames, true)
      else if (half === 0) await reject(key, last, error)
      else {
        await ship(key, frames.slice(0, half), true)
        await ship(key, frames.slice(half), true)
      }
    }
  }

  return {
    position: cursors.position,
    forget: cursors.forget,
    batchSize: () => batchSize,
    ship: (key, frames) => ship(key, frames, false),
    reset() {
      cursors.reset()
      partitions.reset()
      batchSize = Math.max(1, Math.floor(batchSize / 2))
    },
  }
}

/** How far each segment is shipped, as stored in the database, cached until `reset`. */
function createCursors(session: Session) {
  const known = new Map<string, number>()
  return {
    position: async (key: SegmentKey): Promise<number> => {
      const position = known.get(key.segment) ?? (await readCursor(await session.client(), key))
      known.set(key.segment, position)
      return position
    },
    forget: async (key: SegmentKey): Promise<void> => {
      known.delete(key.segment)
      await deleteCursor(await session.client(), key)
    },
    moved: (segment: string, to: number) => known.set(segment, to),
    reset: () => known.clear(),
  }
}

/** The days whose partitions are known to exist. */
function createPartitions(session: Session) {
  const days = new Set<string>()
  return {
    async ensure(wanted: readonly string[]) {
      for (const day of wanted) {
        if (days.has(day)) continue
        await (await session.client()).query('SELECT ensure_log_partitions($1)', [day])
        days.add(day)
      }
    },
    reset: () => days.clear(),
  }
}

/** Words that another process ended, which does not keep them, begin again so often at most. */
const beginEveryMs = 60_000

/** Returns the function that ensures that the words of logs are complete from some time on. */
function createWordsBeginning(session: Session): () => Promise<void> {
  let begunAt = -Infinity
  return async () => {
    if (performance.now() - begunAt < beginEveryMs) return
    await (
      await session.client()
    ).query(`BEGIN; SET LOCAL statement_timeout = '30s'; SELECT set_config('app.scope', 'system', true); SELECT begin_log_words(); COMMIT`)
    begunAt = performance.now()
  }
}

const isDataFault = (error: unknown): error is Error =>
  error instanceof UnreadableRowError || (error instanceof DatabaseError && dataFault.test(error.code ?? ''))
