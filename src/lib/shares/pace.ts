import { createFairLine } from './fair-line.ts'
import { longBytes } from './long-turns.ts'

/** A stream goes on with so many bytes at a time. */
const pieceBytes = 128 * 1024
/** So many streams go on in one turn of the event loop. */
const mostAtOnce = 2

const line = createFairLine<() => void>()
let isOpening = false

/** Lets the next streams go on. A socket emits its buffered bytes within one turn: twenty of them would fill it for a tenth of a second. */
function open(): void {
  isOpening = false
  for (let at = 0; at < mostAtOnce; at += 1) line.next()?.()
  if (line.size > 0) openSoon()
}

function openSoon(): void {
  if (isOpening) return
  isOpening = true
  setImmediate(open)
}

/** A stream that can be stopped. Bytes that were read already may still come. */
export interface Pausable {
  pause(): unknown
  resume(): unknown
}

/** The pace of one stream. */
export interface Pace {
  /** Notes bytes as they come. */
  took(bytes: number): void
  /** Lets the stream alone from now on: it stays as it is, and another reader may have it. */
  end(): void
}

/**
 * Returns the pace of one stream of an owner: a long one is stopped after each piece, until it is the owner's turn again. Bytes that come
 * are work for the event loop, used or not.
 */
export function paceOf(owner: string | null, stream: Pausable): Pace {
  let size = 0
  let next = longBytes
  let isOver = false
  const goOn = (): void => {
    if (!isOver) stream.resume()
  }
  return {
    took(bytes) {
      size += bytes
      if (size < next || isOver) return
      next = size + pieceBytes
      stream.pause()
      line.add(owner, goOn)
      openSoon()
    },
    end: () => void (isOver = true),
  }
}
