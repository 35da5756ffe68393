import { type ApiError, toApiError } from '../../lib/errors.ts'
import type { LineQueue } from './batch-store.ts'
import type { HeldLine } from './run-held.ts'
import { shareOf } from './spare-room.ts'

/** The lines that a process holds. */
export interface ClaimState {
  readonly queue: LineQueue
  readonly atOnce: number
  /** Claimed, and not begun. */
  readonly ready: HeldLine[]
  readonly running: Map<HeldLine, Promise<void>>
  readonly stopping: AbortController
  /** Until then no line is there to be claimed, but for the organisations that have more. */
  claimsAt: number
  /** So many lines of one organisation are claimed before they begin. */
  readyShare: number
  /** Organisations that may have lines beyond those which were claimed. */
  more: ReadonlySet<string>
  readonly report: (error: ApiError, what: string) => void
}

/** Between two looks when the last found less than there is room for. */
export const betweenMs = 250

/** Lines are claimed in blocks, a new one when half of the last has begun. */
export const isClaimDue = (state: ClaimState): boolean =>
  performance.now() >= state.claimsAt || [...state.more].some((organisation) => 2 * readyOf(state, organisation) <= state.readyShare)

/** Claims lines for all organisations. Each has a share of its own: lines of one that cannot begin leave the others room. */
export async function claim(state: ClaimState): Promise<void> {
  state.claimsAt = performance.now() + betweenMs
  const batches = await state.queue.open()
  const organisations = new Set(batches.map(({ organisationId }) => organisationId)).size
  state.readyShare = Math.max(1, Math.ceil(state.atOnce / Math.max(1, organisations)))
  const more = new Set<string>()
  const running = runningOf(state)
  for (const batch of batches.toSorted((one, next) => linesOf(running, one) - linesOf(running, next))) {
    if (state.stopping.signal.aborted) break
    const most = Math.min(2 * state.atOnce - state.ready.length, state.readyShare - readyOf(state, batch.organisationId))
    const lines = most > 0 ? await state.queue.claim(batch, most) : []
    state.ready.push(...lines.map((line) => ({ batch, line })))
    if (lines.length === Math.max(0, most)) more.add(batch.organisationId)
  }
  state.more = more
}

/**
 * Takes the line that begins next: of the organisation with the fewest lines that run. An organisation has its share of the places and no more. Lines
 * beyond its share, which began when there were more places, take none from the others. Null: none may begin.
 */
export function takeNext(state: ClaimState, places: number): HeldLine | null {
  if (places <= 0 || state.running.size >= state.atOnce) return null
  const running = runningOf(state)
  const share = shareOf(places)
  const taken = [...running.values()].reduce((sum, lines) => sum + Math.min(lines, share), 0)
  if (taken >= places) return null
  const next = state.ready
    .filter(({ batch }) => linesOf(running, batch) < share)
    .reduce<HeldLine | null>(
      (best, one) => (best === null || linesOf(running, one.batch) < linesOf(running, best.batch) ? one : best),
      null,
    )
  if (next !== null) state.ready.splice(state.ready.indexOf(next), 1)
  return next
}

type Counts = ReadonlyMap<string, number>

function runningOf({ running }: ClaimState): Counts {
  const counts = new Map<string, number>()
  for (const { batch } of running.keys()) counts.set(batch.organisationId, (counts.get(batch.organisationId) ?? 0) + 1)
  return counts
}

const linesOf = (counts: Counts, { organisationId }: { readonly organisationId: string }): number => counts.get(organisationId) ?? 0

const readyOf = ({ ready }: ClaimState, organisationId: string): number =>
  ready.filter(({ batch }) => batch.organisationId === organisationId).length

/** Gives the lines back that were not begun. Never rejects. */
export async function giveBack({ ready, queue, report }: ClaimState): Promise<void> {
  const held = ready.splice(0)
  for (const batch of new Set(held.map((one) => one.batch)))
    await queue
      .release(
        batch,
        held.filter((one) => one.batch === batch).map(({ line }) => line.line),
      )
      .catch((error: unknown) => report(toApiError(error), 'lines of batches cannot be given back'))
}
