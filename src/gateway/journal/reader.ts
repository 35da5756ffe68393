import fs from 'node:fs'
import { parseFrame, type StoredFrame } from './frame.ts'
import type { Segment } from './segment.ts'

export interface ReadFrame {
  readonly frame: StoredFrame
  /** The places in its segment where the frame begins and ends. */
  readonly start: number
  readonly end: number
}

export interface Batch {
  /** Valid until the next read. */
  readonly frames: readonly ReadFrame[]
  /** The place to go on; past torn or damaged bytes when the segment is closed. */
  readonly offset: number
  /** `more` there may be more to read now; `waiting` the writer has not written more yet; `ended` no frame will follow. */
  readonly state: 'more' | 'waiting' | 'ended'
}

export interface ReadOptions {
  readonly offset: number
  /** It has no writer any more: an incomplete frame is torn, and is skipped. */
  readonly closed: boolean
  readonly maxFrames: number
  /** A batch exceeds it only by a single frame that is larger. */
  readonly maxBytes: number
}

const firstReadBytes = 64 * 1024
/** One outsize frame must not hold its memory for good. */
const largestKeptBytes = 8 * 1024 * 1024

/** A reader with one buffer, used again for each batch. */
export function createSegmentReader(): (segment: Segment, options: ReadOptions) => Batch {
  let buffer = Buffer.allocUnsafeSlow(firstReadBytes)

  const window = (fd: number, offset: number, length: number): Buffer => {
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length)
    return buffer.subarray(0, fs.readSync(fd, buffer, 0, length, offset))
  }

  const readWindow = (fd: number, segment: Segment, options: ReadOptions): Batch => {
    const left = fs.fstatSync(fd).size - options.offset
    let length = Math.min(left, firstReadBytes)
    for (;;) {
      const found = parseFrames(window(fd, options.offset, length), segment.mark, options)
      const full = length >= left || (found.frames.length > 0 && length >= options.maxBytes)
      if (found.rest.kind !== 'short' || full) return toBatch(found, options, length < left)
      length = Math.min(left, Math.max(length * 8, found.rest.bytes))
    }
  }

  const search = (fd: number, segment: Segment, offset: number): number | null => {
    const bytes = window(fd, offset, Math.max(0, fs.fstatSync(fd).size - offset))
    for (let at = bytes.indexOf(segment.mark, 1); at !== -1; at = bytes.indexOf(segment.mark, at + 1)) {
      const { kind } = parseFrame(bytes, at, segment.mark)
      if (kind === 'frame' || kind === 'end') return offset + at
    }
    return null
  }

  return (segment, options) => {
    if (buffer.length > largestKeptBytes) buffer = Buffer.allocUnsafeSlow(firstReadBytes)
    const fd = fs.openSync(segment.path, 'r')
    try {
      const batch = readWindow(fd, segment, options)
      if (batch.state !== 'waiting' || !options.closed) return batch
      const next = search(fd, segment, options.offset)
      return next === null ? { ...batch, state: 'ended' } : { ...batch, offset: next, state: 'more' }
    } finally {
      fs.closeSync(fd)
    }
  }
}

interface FrameBatch {
  readonly frames: readonly ReadFrame[]
  /** The bytes after the last frame. */
  readonly rest: { readonly kind: 'end' | 'none' | 'full' } | { readonly kind: 'short'; readonly bytes: number }
  readonly end: number
}

function parseFrames(bytes: Buffer, mark: Uint8Array, { offset, maxFrames }: ReadOptions): FrameBatch {
  const frames: ReadFrame[] = []
  let at = 0
  while (frames.length < maxFrames) {
    const parsed = parseFrame(bytes, at, mark)
    if (parsed.kind !== 'frame') return { frames, rest: parsed, end: offset + at }
    frames.push({ frame: parsed.frame, start: offset + at, end: offset + parsed.next })
    at = parsed.next
  }
  return { frames, rest: { kind: 'full' }, end: offset + at }
}

function toBatch({ frames, rest, end }: FrameBatch, { closed }: ReadOptions, unread: boolean): Batch {
  if (rest.kind === 'end') return { frames, offset: end, state: 'ended' }
  const more = rest.kind === 'full' || (rest.kind === 'short' && unread) || (closed && frames.length > 0)
  return { frames, offset: end, state: more ? 'more' : 'waiting' }
}
