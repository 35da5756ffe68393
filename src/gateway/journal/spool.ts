import fs from 'node:fs'
import { endFrame, headerBytes, type EncodedFrame } from './frame.ts'
import { createWriterDirectory, release, renew, staleAfterMs, type Claim } from './owner.ts'
import { createSegment, type Segment } from './segment.ts'

/** Writes all buffers at a position of a file and returns how many bytes were written, as `fs.writevSync` does. */
export type Write = (fd: number, buffers: readonly Uint8Array[], position: number) => number

export interface SpoolOptions {
  readonly directory: string
  readonly maxSpoolBytes: number
  readonly segmentBytes: number
  readonly now: () => number
  readonly write: Write
}

/** The segments of one process, the last of them open. `write` throws when the disk or the limit refuses. */
export interface Spool {
  write(encode: (mark: Uint8Array) => EncodedFrame, lean: boolean): void
  bytes(): number
  /** Why there is no segment to write to; null when there is one. */
  refusal(): string | null
  close(): void
}

const renewEveryMs = 5_000
/** How often the disk is asked again when it was full, so that refusals stay cheap. */
const retryEveryMs = 250

/** Opens the spool; when the disk refuses, each later write and heartbeat tries again. */
export function openSpool(options: SpoolOptions): Spool {
  const waiting = createWaiting(options)
  const lease = createLease(options)
  let open: OpenSegment | null = null
  const refusal = createRefusal()

  const begin = (claim: Claim, seq: number): OpenSegment => {
    waiting.recount()
    return (open = openSegment(claim, seq, options.write))
  }

  const leave = (current: OpenSegment) => {
    open = null
    current.finish()
    waiting.add(current.segment.path, current.bytes())
  }

  /** Leaves the whole directory to any shipper. */
  const abandon = (current: OpenSegment) => {
    leave(current)
    attempt(() => release(current.claim))
  }

  const rotate = (current: OpenSegment): OpenSegment => {
    leave(current)
    try {
      return begin(current.claim, current.segment.seq + 1)
    } catch (error) {
      attempt(() => release(current.claim))
      throw error
    }
  }

  const ours = (): OpenSegment => {
    if (open !== null && lease.holds(open.claim)) return open
    if (open !== null) abandon(open)
    if (!lease.mayStart()) throw new Error(refusal.latest() ?? 'the journal has no segment to write to')
    return refusal.noting(() => begin(lease.start(), 1))
  }

  const heartbeat = setInterval(() => {
    if (open === null) attempt(ours)
    else if (!lease.renew(open.claim)) abandon(open)
  }, renewEveryMs).unref()

  attempt(ours)

  return {
    bytes: () => waiting.bytes() + (open?.bytes() ?? 0),
    refusal: refusal.latest,
    write(encode, lean) {
      const current = ours()
      const frame = encode(current.segment.mark)
      waiting.admit(current.bytes() + frame.length, lean)
      if (current.bytes() === 0 || current.bytes() + frame.length + headerBytes <= options.segmentBytes) return current.put(frame)
      const next = rotate(current)
      next.put(encode(next.segment.mark))
    },
    close() {
      clearInterval(heartbeat)
      lease.end()
      if (open !== null) abandon(open)
    },
  }
}

interface OpenSegment {
  readonly claim: Claim
  readonly segment: Segment
  bytes(): number
  put(frame: EncodedFrame): void
  finish(): void
}

/** A failed write leaves no trace: the next one goes to the same place. */
function openSegment(claim: Claim, seq: number, write: Write): OpenSegment {
  const { segment, fd } = createSegment(claim.directory, seq)
  let offset = 0
  return {
    claim,
    segment,
    bytes: () => offset,
    put({ buffers, length }) {
      const written = write(fd, buffers, offset)
      if (written !== length) throw new Error(`the disk took ${written} of ${length} bytes`)
      offset += length
    },
    finish() {
      attempt(() => write(fd, endFrame(segment.mark).buffers, offset))
      attempt(() => fs.closeSync(fd))
    },
  }
}

/** The right to write a directory. After a long pause of this process (a stopped container) another may have taken it over. */
function createLease({ directory, now }: SpoolOptions) {
  const mayStart = createThrottle(now)
  let renewedAt = 0
  let ended = false
  const renewClaim = (claim: Claim): boolean => {
    const renewed = attempt(() => renew(claim, now()))
    if (renewed) renewedAt = now()
    return renewed
  }
  return {
    renew: renewClaim,
    holds: (claim: Claim) => now() - renewedAt < staleAfterMs / 2 || renewClaim(claim),
    mayStart: () => !ended && mayStart(),
    start(): Claim {
      const claim = createWriterDirectory(directory)
      renewedAt = now()
      return claim
    },
    end() {
      ended = true
    },
  }
}

/** Closed segments that were there when last looked at. They are shipped oldest first, so the first that is there ends the search. */
function createWaiting({ maxSpoolBytes, now }: SpoolOptions) {
  const sizes = new Map<string, number>()
  const mayRecount = createThrottle(now)
  let total = 0
  const recount = () => {
    for (const [path, bytes] of sizes) {
      if (fs.existsSync(path)) return
      sizes.delete(path)
      total -= bytes
    }
  }
  return {
    bytes: () => total,
    recount,
    add(path: string, bytes: number) {
      sizes.set(path, bytes)
      total += bytes
    },
    /** Throws when `bytes` more are too many. The last eighth is kept for records without their bodies. */
    admit(bytes: number, lean: boolean) {
      const limit = lean ? maxSpoolBytes : maxSpoolBytes - Math.ceil(maxSpoolBytes / 8)
      if (total + bytes <= limit) return
      if (mayRecount()) recount()
      if (total + bytes > limit) throw new Error('the journal holds as much as it may')
    },
  }
}

/** Why the latest try failed; null when it did not. */
function createRefusal() {
  let latest: string | null = null
  return {
    latest: () => latest,
    noting<T>(act: () => T): T {
      try {
        const done = act()
        latest = null
        return done
      } catch (error) {
        latest = String(error)
        throw error
      }
    },
  }
}

function createThrottle(now: () => number): () => boolean {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - last < retryEveryMs) return false
    last = now()
    return true
  }
}

/** True when it did not throw. */
function attempt(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}
