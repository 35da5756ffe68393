import fs from 'node:fs'
import path from 'node:path'
import {
  claim,
  listDirectories,
  type JournalOwnership,
  createSegmentReader,
  listSegments,
  removeDirectory,
  retireSegment,
  type Segment,
} from '../../gateway/ports/journal.ts'
import type { Store } from './store.ts'

export interface DrainOptions {
  /** Holds one directory per writer. */
  readonly root: string
  readonly store: Store
  /** Shipped files up to this size are kept, a few of them, for the writer to use again. */
  readonly segmentBytes: number
  readonly now: () => number
  readonly unusable: (directory: string, reason: string) => void
}

/** Ships the records of this process's journal, and those that dead processes left on disk. */
export interface Drain {
  /**
   * Ships all records that this process appended, and a part of those of dead processes; returns whether more of the latter are left. Throws when the
   * database does not take them; then `reset`, and try again later.
   */
  pass(): Promise<boolean>
  /** Forgets positions, to be read from the database again. */
  reset(): void
  /** Makes pending records safe from a power failure. */
  sync(): void
}

/** How often it is looked whether another process died. */
const lookEveryMs = 5_000
const sparesKept = 2
const maxBatchBytes = 2 * 1024 * 1024

/** Builds the drain of one process. */
export function createDrain(options: DrainOptions): Drain {
  const { root, store, now, unusable } = options
  const segments = createSegmentShipper(options)
  const foreign = new Map<string, number>()

  const standing = (directory: string): JournalOwnership => {
    if (now() - (foreign.get(directory) ?? Number.NEGATIVE_INFINITY) < lookEveryMs) return 'foreign'
    const found = claim(directory, now())
    if (found === 'foreign') foreign.set(directory, now())
    else foreign.delete(directory)
    return found
  }

  const drainOwn = async (directory: string) => {
    const found = listSegments(directory)
    for (const [index, segment] of found.entries()) await segments.ship(segment, { closed: index < found.length - 1, own: true })
  }

  /** One segment at a time, so that a long backlog does not hold up present records. Returns whether more is left. */
  const drainOrphan = async (directory: string): Promise<boolean> => {
    const [oldest] = listSegments(directory)
    if (oldest !== undefined) await segments.ship(oldest, { closed: true, own: false })
    if (listSegments(directory).length > 0) return true
    removeDirectory(directory)
    return false
  }

  const drainDirectory = async (directory: string): Promise<boolean> => {
    const role = standing(directory)
    if (role === 'writing') await drainOwn(directory)
    return role === 'adopted' && (await drainOrphan(directory))
  }

  /** A directory that cannot be read, written or removed is left alone for a while, so that it does not hold up the others. */
  const guarded = async (directory: string): Promise<boolean> => {
    try {
      return await drainDirectory(directory)
    } catch (error) {
      if (!isFileError(error)) throw error
      foreign.set(directory, now())
      unusable(directory, error.message)
      return false
    }
  }

  return {
    async pass() {
      let more = false
      for (const directory of listDirectories(root)) more = (await guarded(directory)) || more
      return more
    },
    reset() {
      segments.reset()
      store.reset()
    },
    sync() {
      const open = listDirectories(root).filter((directory) => !foreign.has(directory))
      for (const segment of open.flatMap((directory) => listSegments(directory).slice(-2))) syncFile(segment.path)
    },
  }
}

/** Ships segments batch by batch, and removes those to which no record will be added. */
function createSegmentShipper({ store, segmentBytes }: DrainOptions) {
  const read = createSegmentReader()
  const offsets = new Map<string, number>()

  const retire = async (segment: Segment, keep: number) => {
    retireSegment(segment, { keep, segmentBytes })
    offsets.delete(segment.path)
    await store.forget(keyOf(segment))
  }

  return {
    async ship(segment: Segment, { closed, own }: { closed: boolean; own: boolean }): Promise<void> {
      for (let more = true; more;) {
        const offset = offsets.get(segment.path) ?? (await store.position(keyOf(segment)))
        const batch = read(segment, { offset, closed, maxFrames: store.batchSize(), maxBytes: maxBatchBytes })
        if (batch.frames.length > 0) await store.ship({ ...keyOf(segment), own }, batch.frames)
        offsets.set(segment.path, batch.offset)
        if (closed && batch.state === 'ended') await retire(segment, own ? sparesKept : 0)
        more = batch.state === 'more'
      }
    },
    reset: () => offsets.clear(),
  }
}

const keyOf = (segment: Segment) => ({ node: path.basename(path.dirname(segment.path)), segment: segment.name })

/** The file system's own errors name a path; those of a connection do not. */
const isFileError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error && 'path' in error

function syncFile(file: string): void {
  const fd = fs.openSync(file, 'r')
  try {
    fs.fdatasyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
