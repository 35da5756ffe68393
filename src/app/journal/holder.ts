import type { EncodedFrame } from '../../gateway/ports/journal.ts'
import type { HeldFrame } from './messages.ts'

/** Frames that the disk refused, kept until the database has them. */
export interface Holder {
  hold(frame: EncodedFrame, lean: boolean): boolean
  /** Forgets the frames up to this one. */
  release(to: number): void
  /** Sends all waiting frames to a new thread; the cursor shows how far the former one had shipped. */
  sendAgain(): void
  /** How many frames wait. */
  waiting(): number
}

/** As on disk, the last eighth is kept for records without their bodies. */
const maxBytes = { any: 16 * 1024 * 1024, whole: 14 * 1024 * 1024 } as const

/** Builds the holder; it passes each frame to `send` at once. */
export function createHolder(send: (held: HeldFrame) => void): Holder {
  let waiting: HeldFrame[] = []
  let bytes = 0
  let end = 0
  return {
    hold({ buffers, length }, lean) {
      if (bytes + length > (lean ? maxBytes.any : maxBytes.whole)) return false
      end += 1
      bytes += length
      const held = { end, bytes: new Uint8Array(Buffer.concat(buffers, length)) }
      waiting.push(held)
      send(held)
      return true
    },
    release(to) {
      const first = waiting.findIndex((held) => held.end > to)
      const released = first === -1 ? waiting : waiting.slice(0, first)
      if (released.length === 0) return
      waiting = waiting.slice(released.length)
      bytes -= released.reduce((sum, held) => sum + held.bytes.length, 0)
    },
    sendAgain: () => waiting.forEach(send),
    waiting: () => waiting.length,
  }
}
