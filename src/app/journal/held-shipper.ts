import { memoryMark, parseFrame, type ReadFrame } from '../../gateway/ports/journal.ts'
import type { HeldFrame } from './messages.ts'
import type { Store } from './store.ts'

/** Ships the records in memory that the disk refused. */
export interface HeldShipper {
  add(held: HeldFrame): void
  /** Throws when the database does not take it; then the store is reset, and it is tried again. */
  ship(): Promise<void>
  /** The last frame that need not be held any longer. */
  shippedTo(): number
}

const maxBatchBytes = 2 * 1024 * 1024

/** Frames from memory have a cursor as a segment has, so that a batch whose commit was not confirmed is not shipped again. */
export function createHeldShipper(store: Store, memory: string): HeldShipper {
  const key = { node: memory, segment: 'memory' }
  let waiting: ReadFrame[] = []
  let shippedTo = 0

  const skip = (to: number) => {
    shippedTo = to
    waiting = waiting.filter(({ end }) => end > to)
  }

  return {
    add({ end, bytes }) {
      const parsed = parseFrame(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0, memoryMark)
      if (parsed.kind === 'frame') waiting.push({ frame: parsed.frame, start: end - 1, end })
    },
    async ship() {
      while (waiting.length > 0) {
        skip(Math.max(shippedTo, await store.position(key)))
        const batch = firstOf(waiting, store.batchSize())
        await store.ship({ ...key, own: true }, batch)
        skip(batch.at(-1)?.end ?? shippedTo)
      }
    },
    shippedTo: () => shippedTo,
  }
}

/** As many as a batch may have; a single one may be larger. */
function firstOf(frames: readonly ReadFrame[], most: number): readonly ReadFrame[] {
  let bytes = 0
  const fits = ({ frame }: ReadFrame) =>
    (bytes += frame.record.length + (frame.request?.length ?? 0) + (frame.response?.length ?? 0) + (frame.sealed?.length ?? 0)) <=
    maxBatchBytes
  const tooMany = frames.slice(0, most).findIndex((frame) => !fits(frame))
  return frames.slice(0, tooMany === -1 ? most : Math.max(1, tooMany))
}
