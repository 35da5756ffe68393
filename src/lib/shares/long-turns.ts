import { ApiError } from '../errors.ts'
import { createChargedLine } from './charged-line.ts'

/** The organisation for which work is done; null: Gatehouse itself. */
type Owner = string | null

/** Work on more bytes takes turns: to read so much JSON takes two milliseconds. */
export const longBytes = 256 * 1024
/** A turn that has run for longer ends before its next step. */
const sliceMs = 20
/** Bodies of one owner that wait for a turn may hold so many bytes. */
const mostWaitingBytes = 256 * 1024 * 1024
const longestRestMs = 1000

interface TurnOptions {
  /** The bytes that are held until the turn comes; absent: none. */
  readonly bytes?: number
  /** Returns whether the work is still wanted when its turn has come. Absent: it is. */
  readonly isWanted?: () => boolean
}

/** The turns at the event loop. */
export interface LongTurns {
  /**
   * Resolves when it is the owner's turn to do long work at once: all that follows without waiting for anything is the turn. Rejects with
   * `overloaded` when bodies of the owner that wait hold too much. Work that is not wanted any longer goes on without a turn.
   */
  readonly take: (owner: Owner, asked?: TurnOptions) => Promise<void>
  /** The same before a step on so many bytes; null: the step is short, or the turn that runs has time for it. */
  readonly before: (owner: Owner, bytes: number, asked?: Omit<TurnOptions, 'bytes'>) => Promise<void> | null
  /** The same before one of many steps that hold nothing; null: the turn that runs has time for it. */
  readonly step: (owner: Owner, asked?: Omit<TurnOptions, 'bytes'>) => Promise<void> | null
}

interface WaitingTurn extends Required<TurnOptions> {
  readonly owner: Owner
  readonly start: () => void
}

/**
 * Returns turns at the event loop. One piece of long work is done at a time, and the event loop is then free for as long as it took: requests that
 * take little time go on meanwhile. The waiting owner that has had the least time is next.
 */
export function createLongTurns(): LongTurns {
  const line = createChargedLine<WaitingTurn>()
  const bytesOf = new Map<Owner, number>()
  let isAwaited = false
  /** The turn that runs. */
  let turn: { owner: Owner; readonly begunAt: number } | null = null
  let freeAt = 0

  function wait(): void {
    if (isAwaited || line.size === 0) return
    isAwaited = true
    const restMs = freeAt - performance.now()
    if (restMs < 1) open()
    else setTimeout(open, restMs)
  }

  /** The second one runs as soon as all that follows from the first without waiting is done. */
  function open(): void {
    setImmediate(begin)
    setImmediate(end)
  }

  function begin(): void {
    const begun = (turn = { owner: null as Owner, begunAt: performance.now() })
    for (let next = line.next(); next !== undefined; next = line.next()) {
      begun.owner = next.owner
      hold(next.owner, -next.bytes)
      next.start()
      if (next.isWanted()) return
    }
  }

  function end(): void {
    const now = performance.now()
    const { owner = null, begunAt = now } = turn ?? {}
    turn = null
    isAwaited = false
    freeAt = now + Math.min(now - begunAt, longestRestMs)
    line.charge(owner, now - begunAt)
    wait()
  }

  function hold(owner: Owner, more: number): void {
    const held = (bytesOf.get(owner) ?? 0) + more
    if (held > 0) bytesOf.set(owner, held)
    else bytesOf.delete(owner)
  }

  function take(owner: Owner, { bytes = 0, isWanted = always }: TurnOptions = {}): Promise<void> {
    const held = bytesOf.get(owner) ?? 0
    if (held > 0 && held + bytes > mostWaitingBytes) return Promise.reject(tooMany())
    const { promise, resolve } = Promise.withResolvers<void>()
    hold(owner, bytes)
    line.add(owner, { owner, bytes, isWanted, start: resolve })
    wait()
    return promise
  }

  const hasTime = (owner: Owner): boolean => turn?.owner === owner && performance.now() - turn.begunAt < sliceMs

  return {
    take,
    step: (owner, asked) => (hasTime(owner) ? null : take(owner, asked)),
    before: (owner, bytes, asked) => (bytes <= longBytes || hasTime(owner) ? null : take(owner, { ...asked, bytes })),
  }
}

const always = (): boolean => true

const tooMany = () =>
  new ApiError('overloaded', 'Too many large requests of the organisation wait for their turn. Try again shortly.', { retryAfter: 1 })

/** The turns of this process, which has one event loop. */
export const longTurns: LongTurns = createLongTurns()
