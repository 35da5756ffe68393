import { setTimeout as sleep } from 'node:timers/promises'
import { toApiError } from '../../lib/errors.ts'
import { leaseMs } from './batch-store.ts'
import { claim, type ClaimState, giveBack, isClaimDue, takeNext } from './claims.ts'
import { endingsOver, type EndingsState, seekEndings } from './endings.ts'
import { type HeldLine, type HeldMeans, runHeld } from './run-held.ts'
import { placesFor, watchLoop } from './spare-room.ts'

export interface RunnerOptions extends Omit<HeldMeans, 'counts'> {
  /** The most lines that this process runs at a time; 0: none. */
  readonly atOnce: number
  /** The exchanges of the process that run, those of batches among them; streams that only stand open are none. */
  readonly inflight: () => number
}

/** Runs the lines of batches beside the requests of callers. */
export interface BatchRunner {
  /** There may be lines to run. */
  wake(): void
  /** Begins no line any more, and gives those back that were not begun. */
  stop(): void
  /** Stops, and resolves when the lines that ran have ended or were given back, or that takes too long. */
  stopped(): Promise<void>
  readonly counts: {
    readonly running: () => number
    readonly done: () => number
    readonly failed: () => number
    readonly repeated: () => number
  }
}

interface State extends RunnerOptions, HeldMeans, ClaimState, EndingsState {
  lost: AbortController
  renewedAt: number
  isDue: boolean
  looping: Promise<void>
  alarm: (() => void) | null
  readonly loop: ReturnType<typeof watchLoop>
}

/** Between two looks for lines of other processes' batches. */
const idleMs = 1000
/** Lines that were cut off are given back to other processes. */
const longestStopMs = 5000
const renewMs = leaseMs / 3
/** A process that could not renew its leases for so long ends its lines: another may have them soon. */
const lostMs = leaseMs - 2000

export function startBatchRunner(options: RunnerOptions): BatchRunner {
  const state: State = {
    ...options,
    ready: [],
    running: new Map(),
    stopping: new AbortController(),
    lost: new AbortController(),
    renewedAt: performance.now(),
    isDue: true,
    claimsAt: 0,
    readyShare: options.atOnce,
    more: new Set(),
    endings: new Map(),
    seeking: null,
    endsAt: 0,
    looping: Promise.resolve(),
    alarm: null,
    counts: { done: 0, failed: 0, repeated: 0 },
    loop: watchLoop(),
  }
  const renewing = setInterval(() => void renew(state), renewMs).unref()
  if (options.atOnce > 0) state.looping = loop(state)
  const { counts } = state
  return {
    wake: () => seek(state),
    stop: () => stop(state),
    async stopped() {
      stop(state)
      await Promise.race([settle(state), sleep(longestStopMs, undefined, { ref: false })])
      clearInterval(renewing)
      state.loop.stop()
    },
    counts: {
      running: () => state.running.size,
      done: () => counts.done,
      failed: () => counts.failed,
      repeated: () => counts.repeated,
    },
  }
}

/** There may be lines that were not there before. */
function seek(state: State): void {
  state.claimsAt = 0
  wake(state)
}

function wake(state: State): void {
  state.isDue = true
  state.alarm?.()
}

function stop(state: State): void {
  state.stopping.abort()
  wake(state)
}

async function settle(state: State): Promise<void> {
  await state.looping
  await Promise.all([...state.running.values(), endingsOver(state)])
}

async function loop(state: State): Promise<void> {
  while (!state.stopping.signal.aborted) {
    state.isDue = false
    try {
      await turn(state)
    } catch (error) {
      state.report(toApiError(error), 'lines of batches cannot be claimed')
    }
    if (!state.isDue && !state.stopping.signal.aborted) await rest(state)
  }
  await giveBack(state)
}

/** Resolves when there is something to do. */
async function rest(state: State): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, idleMs).unref()
  state.alarm = resolve
  await promise
  state.alarm = null
  clearTimeout(timer)
}

async function turn(state: State): Promise<void> {
  const places = () => placesFor({ ...state, live: state.inflight() - state.running.size, lateMs: state.loop.lateMs() })
  if (places() > 0 && isClaimDue(state)) await claim(state)
  while (!state.stopping.signal.aborted) {
    const held = takeNext(state, places())
    if (held === null) break
    begin(state, held)
  }
  seekEndings(state, () => wake(state))
}

function begin(state: State, held: HeldLine): void {
  const run = runHeld(state, held, state.lost.signal).finally(() => {
    state.running.delete(held)
    wake(state)
  })
  state.running.set(held, run)
}

async function renew(state: State): Promise<void> {
  if (state.running.size === 0 && state.ready.length === 0) {
    state.renewedAt = performance.now()
    return
  }
  try {
    const at = performance.now()
    await state.queue.renew([...state.ready, ...state.running.keys()])
    state.renewedAt = at
  } catch (error) {
    state.report(toApiError(error), 'the leases of lines of batches cannot be renewed')
  }
  if (performance.now() - state.renewedAt < lostMs) return
  state.ready.length = 0
  state.lost.abort()
  state.lost = new AbortController()
}
