import { type ApiError, toApiError } from '../../lib/errors.ts'
import type { EndingBatch } from './batch-store.ts'
import { betweenMs } from './claims.ts'
import { type EndMeans, endBatch } from './end-batch.ts'

/** The batches whose files a process writes. */
export interface EndingsState extends EndMeans {
  /** One batch of each organisation at a time, so that none waits for another. */
  readonly endings: Map<string, Promise<void>>
  /** The look for the next; null: there is none. */
  seeking: Promise<void> | null
  endsAt: number
  readonly stopping: AbortController
  readonly report: (error: ApiError, what: string) => void
}

/** The files of so many batches are written at a time. */
const mostEndings = 4

/** Looks for a batch that has ended when it is time, and writes its files beside the lines of others. `wake` is called when there may be another. */
export function seekEndings(state: EndingsState, wake: () => void): void {
  if (state.seeking === null && state.endings.size < mostEndings && performance.now() >= state.endsAt) state.seeking = seek(state, wake)
}

/** Resolves when the files that are being written are. */
export async function endingsOver(state: EndingsState): Promise<void> {
  await state.seeking
  await Promise.all(state.endings.values())
}

async function seek(state: EndingsState, wake: () => void): Promise<void> {
  state.endsAt = performance.now() + betweenMs
  try {
    const ending = await state.queue.ending([...state.endings.keys()])
    if (ending === null) return
    state.endings.set(ending.organisationId, endOne(state, ending, wake))
    state.endsAt = 0
  } catch (error) {
    state.report(toApiError(error), 'batches that have ended cannot be claimed')
  } finally {
    state.seeking = null
    if (state.endsAt === 0) wake()
  }
}

async function endOne(state: EndingsState, ending: EndingBatch, wake: () => void): Promise<void> {
  try {
    await endBatch(state, ending, state.stopping.signal)
  } catch (error) {
    if (!state.stopping.signal.aborted) state.report(toApiError(error), 'the files of a batch cannot be written')
  } finally {
    state.endings.delete(ending.organisationId)
    wake()
  }
}
